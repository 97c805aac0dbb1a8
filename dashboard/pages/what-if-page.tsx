/** A past day under other settings: earnings, winners and reader prices beside those of the day. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useAddress } from '../address.ts'
import { api, isConflict, type PublisherSettings, type SettingsBody } from '../api.ts'
import { useCan, usePublisher, usePublisherSettings } from '../organization.ts'
import { readWhatIf, type WhatIf, type WhatIfBody } from '../publisher-api.ts'
import { addDays, utcDay } from '../range-days.ts'
import { DayField } from '../ui/day-field.tsx'
import { EmptyState, Failure, Progress } from '../ui/notice.tsx'
import { Slider } from '../ui/slider.tsx'
import { Title } from '../ui/title.tsx'
import { toast } from '../ui/toast.ts'
import { MerchantLists } from './merchant-lists.tsx'
import type { Trial } from './trial.ts'
import { WhatIfResult } from './what-if-result.tsx'

const FLOOR_STEP = 0.01
/** Enough for nearly every floor; a higher one in use widens the range. */
const FLOOR_MAX = 1
const TOLERANCE_MAX = 0.2
const TOLERANCE_STEP = 0.01
const BETA_MAX = 3
const BETA_STEP = 0.25

/** The service runs at most 32 days of a caller at once, and arrow keys repeat. */
const REST_MS = 400

export function WhatIfPage() {
  const settings = usePublisherSettings()
  return (
    <div className="space-y-5">
      <Title>What if</Title>
      <p className="max-w-prose text-soft">
        Move a setting, and a past day’s auctions run again with it. Readers click before they know
        the merchant, so the same clicks count; bids and budgets stay those of the day.
      </p>
      <Progress query={settings} />
      {settings.data !== undefined && <Trials settings={settings.data} />}
    </div>
  )
}

function trialOf(settings: PublisherSettings): Trial {
  return {
    floor: Number(settings.floor),
    tolerance: settings.tolerance,
    beta: settings.beta,
    allow: settings.allow_merchant,
    block: settings.block_merchant,
  }
}

function Trials({ settings }: { settings: PublisherSettings }) {
  const { pub_id: pubId } = usePublisher()
  const now = trialOf(settings)
  const [{ day = addDays(utcDay(Date.now()), -1) }, change] = useAddress()
  const [trial, setTrial] = useState(now)
  // Sliders move often; a run starts once they rest.
  const [asked, setAsked] = useState(now)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(trial), REST_MS)
    return () => clearTimeout(timer)
  }, [trial])
  const body = bodyOf({ pubId, day, now, trial: asked })
  const run = useQuery({
    queryKey: ['what if', body],
    queryFn: ({ signal }) => readWhatIf(body, signal),
    staleTime: 60_000,
    placeholderData: (before) => before,
  })
  const commit = (part: Partial<Trial>) => setTrial({ ...trial, ...part })
  return (
    <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
      <section aria-label="Settings to try" className="panel space-y-5 p-4">
        <div className="flex flex-wrap items-center justify-between gap-2 text-sm">
          <span className="text-soft">Auctions of (UTC)</span>
          <span className="w-32">
            <DayField label="Day" value={day} onChange={(next) => change({ day: next })} />
          </span>
        </div>
        <Sliders trial={trial} now={now} onChange={setTrial} onCommit={commit} />
        <MerchantLists trial={trial} onChange={commit} />
        <Apply settings={settings} trial={trial} now={now} onReset={() => commit(now)} />
      </section>
      <div className="space-y-4" aria-busy={run.isFetching}>
        {run.failureReason !== null && (
          <Failure error={run.failureReason} isGoingOn={run.isFetching} />
        )}
        {run.data === undefined && run.failureReason === null && <Progress query={run} />}
        {run.data !== undefined && <Shown result={run.data} isOld={run.isFetching} />}
      </div>
    </div>
  )
}

function Shown({ result, isOld }: { result: WhatIf; isOld: boolean }) {
  if (result.auctions === 0) {
    return (
      <EmptyState title="No auctions on this day">
        Auctions without a click are stored for a few days only. Choose a later day.
      </EmptyState>
    )
  }
  return (
    <div className={isOld ? 'opacity-40 transition-opacity delay-300' : ''}>
      <WhatIfResult result={result} />
    </div>
  )
}

function Sliders(props: {
  trial: Trial
  now: Trial
  onChange: (trial: Trial) => void
  onCommit: (part: Partial<Trial>) => void
}) {
  const { trial, now, onChange, onCommit } = props
  const percent = (value: number) => `${Math.round(value * 100)} %`
  const dollars = (value: number) => `$${value.toFixed(2)}`
  const beside = (show: (value: number) => string, present: number) => (value: number) =>
    value === present ? show(value) : `${show(value)}, now ${show(present)}`
  return (
    <>
      <Slider
        label="Lowest price of a click"
        min={0}
        max={Math.max(FLOOR_MAX, now.floor * 2)}
        step={FLOOR_STEP}
        value={trial.floor}
        format={beside(dollars, now.floor)}
        onChange={(floor) => onChange({ ...trial, floor })}
        onCommit={(floor) => onCommit({ floor })}
      />
      <Slider
        label="Maximum price increase"
        min={0}
        max={TOLERANCE_MAX}
        step={TOLERANCE_STEP}
        value={trial.tolerance}
        format={beside(percent, now.tolerance)}
        onChange={(tolerance) => onChange({ ...trial, tolerance })}
        onCommit={(tolerance) => onCommit({ tolerance })}
      />
      <Slider
        label="Weight of a lower price"
        min={0}
        max={Math.max(BETA_MAX, now.beta)}
        step={BETA_STEP}
        value={trial.beta}
        format={beside(String, now.beta)}
        onChange={(beta) => onChange({ ...trial, beta })}
        onCommit={(beta) => onCommit({ beta })}
      />
    </>
  )
}

const isSameList = (one: readonly number[], other: readonly number[]) =>
  one.length === other.length && one.every((id) => other.includes(id))

const areListsSame = (one: Trial, other: Trial) =>
  isSameList(one.allow, other.allow) && isSameList(one.block, other.block)

function bodyOf(of: { pubId: number; day: string; now: Trial; trial: Trial }): WhatIfBody {
  const { pubId, day, now, trial } = of
  return {
    ...{ pub_id: pubId, date: day },
    ...(trial.floor === now.floor ? {} : { floor: trial.floor.toFixed(2) }),
    ...(trial.tolerance === now.tolerance ? {} : { tolerance: trial.tolerance }),
    ...(trial.beta === now.beta ? {} : { beta: trial.beta }),
    ...(areListsSame(trial, now)
      ? {}
      : { allow_merchants: [...trial.allow], block_merchants: [...trial.block] }),
  }
}

/** Saves the tried settings as the publisher's own. */
function Apply(props: {
  settings: PublisherSettings
  trial: Trial
  now: Trial
  onReset: () => void
}) {
  const { settings, trial, now, onReset } = props
  const { pub_id: pubId } = settings
  const canChange = useCan('settings.write')
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: (body: SettingsBody) => api.changePublisherSettings(settings, body),
    onSuccess: (saved) => {
      client.setQueryData(['settings', pubId], saved)
      void toast('Saved. New auctions use it within seconds.')
    },
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the saved settings change.
  useEffect(() => save.reset(), [trial])
  const { pub_id: _pub, date: _date, ...changes } = bodyOf({ pubId, day: '', now, trial })
  const isChanged = Object.keys(changes).length > 0
  const { allow_merchants: allow, block_merchants: block, ...others } = changes
  const body = {
    ...others,
    ...(allow === undefined ? {} : { allow_merchant: allow }),
    ...(block === undefined ? {} : { block_merchant: block }),
  } as SettingsBody
  return (
    <div className="space-y-3 border-t border-line pt-4">
      {isConflict(save.error) ? (
        <p role="alert" className="text-sm text-bad">
          Somebody else has changed the settings meanwhile.{' '}
          <button
            type="button"
            className="underline"
            onClick={() => void client.invalidateQueries({ queryKey: ['settings', pubId] })}
          >
            Load them
          </button>
        </p>
      ) : (
        save.error !== null && <Failure error={save.error} />
      )}
      <div className="flex flex-wrap gap-2">
        {canChange && (
          <button
            type="button"
            className="button button-main"
            aria-disabled={!isChanged}
            aria-busy={save.isPending}
            onClick={() => isChanged && !save.isPending && save.mutate(body)}
          >
            Apply
          </button>
        )}
        <button type="button" className="button" onClick={onReset} aria-disabled={!isChanged}>
          Back to today’s settings
        </button>
      </div>
      {!canChange && (
        <p className="text-sm text-soft">A manager or owner can apply these settings.</p>
      )}
    </div>
  )
}
