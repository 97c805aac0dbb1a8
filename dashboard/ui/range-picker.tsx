/** Chooses the days of a page, the days to compare with, and the time zone. */
import { useEffect, useState } from 'react'
import { useAddress } from '../address.ts'
import type { Range } from '../api.ts'
import { date } from '../format.ts'
import { useChosenRange } from '../range.ts'
import { PRESETS, rangeOf } from '../range-days.ts'
import { Calendar } from './calendar.tsx'
import { Choice } from './choice.tsx'
import { DayField } from './day-field.tsx'
import { Icon } from './icon.tsx'
import { Popover } from './popover.tsx'

export interface RangePickerProps {
  /** Whether the calls of the page take a comparison. */
  readonly isCompared?: boolean
  /** The organization's own time zone, if the calls of the page take one; otherwise UTC. */
  readonly ownZone?: string
}

const COMPARISONS = [
  { value: 'none', label: 'None' },
  { value: 'previous', label: 'Previous period' },
  { value: 'year', label: 'Year before' },
] as const

export function RangePicker({ isCompared = false, ownZone }: RangePickerProps) {
  const chosen = useChosenRange()
  const [, change] = useAddress()
  const [isOpen, setOpen] = useState(false)
  const preset = PRESETS.find((one) => one.preset === chosen.preset)
  const apply = (range: Range) => {
    change(range)
    setOpen(false)
  }
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 print:hidden">
      {isCompared && chosen.before !== null && (
        <span className="text-xs text-soft">Compared with {spell(chosen.before)}</span>
      )}
      <Popover
        label="Days"
        isOpen={isOpen}
        onOpenChange={setOpen}
        button={
          <>
            <Icon name="calendar" size={14} />
            <span className="sr-only">Days: </span>
            {preset !== undefined && <span>{preset.label}</span>}
            <span className={preset === undefined ? '' : 'font-normal text-soft max-sm:hidden'}>
              {spell(chosen)}
            </span>
            <Icon name="down" size={12} />
          </>
        }
      >
        <div className="flex gap-4 max-sm:flex-col">
          <ul className="flex flex-col gap-0.5 max-sm:flex-row max-sm:flex-wrap">
            {PRESETS.map((one) => (
              <li key={one.preset}>
                <button
                  type="button"
                  aria-pressed={one.preset === chosen.preset}
                  className="w-full rounded-md px-2.5 py-1.5 text-left text-sm hover:bg-sunk aria-pressed:bg-tint aria-pressed:text-accent"
                  onClick={() => apply(rangeOf(one.preset, Date.now()))}
                >
                  {one.label}
                </button>
              </li>
            ))}
          </ul>
          <div className="w-64 space-y-3 max-sm:w-full">
            <CustomRange range={chosen} onChoose={apply} />
            {isCompared && <Comparison />}
            <Zone ownZone={ownZone} />
          </div>
        </div>
      </Popover>
    </div>
  )
}

/** `1 Nov 2026 – 30 Nov 2026`, or one day. */
const spell = ({ from, to }: Range): string =>
  from === to ? date(from) : `${date(from)} – ${date(to)}`

/** Two typed days, or two clicks in the calendar. */
function CustomRange({ range, onChoose }: { range: Range; onChoose: (range: Range) => void }) {
  const { from, to } = range
  const [draft, setDraft] = useState({ from, to })
  const [isSecond, setSecond] = useState(false)
  useEffect(() => setDraft({ from, to }), [from, to])
  const ordered =
    draft.from <= draft.to ? { from: draft.from, to: draft.to } : { from: draft.to, to: draft.from }
  const pick = (day: string) => {
    setDraft(isSecond ? { ...draft, to: day } : { from: day, to: day })
    setSecond(!isSecond)
  }
  return (
    <form
      className="space-y-2"
      onSubmit={(event) => {
        event.preventDefault()
        onChoose(ordered)
      }}
    >
      <div className="flex items-center gap-1.5">
        <DayField
          label="First day"
          value={draft.from}
          onChange={(day) => setDraft({ ...draft, from: day })}
        />
        –
        <DayField
          label="Last day"
          value={draft.to}
          onChange={(day) => setDraft({ ...draft, to: day })}
        />
      </div>
      <Calendar
        label={isSecond ? 'Choose the last day' : 'Choose the first day'}
        range={ordered}
        at={draft.to}
        onChoose={pick}
      />
      <button type="submit" className="button button-main button-small w-full">
        Show these days
      </button>
    </form>
  )
}

function Comparison() {
  const [{ compare = 'previous' }, change] = useAddress()
  return (
    <div>
      <p className="mb-1 text-xs text-soft">Compare with</p>
      <Choice
        label="Compare with"
        options={COMPARISONS}
        value={compare}
        onChange={(next) => change({ compare: next === 'previous' ? undefined : next })}
      />
    </div>
  )
}

function Zone({ ownZone }: { ownZone: string | undefined }) {
  const [{ zone }, change] = useAddress()
  if (ownZone === undefined || ownZone === 'UTC') {
    return <p className="text-xs text-soft">Days are in UTC.</p>
  }
  return (
    <div>
      <p className="mb-1 text-xs text-soft">Days in</p>
      <Choice
        label="Time zone"
        options={[
          { value: 'own', label: ownZone },
          { value: 'utc', label: 'UTC' },
        ]}
        value={zone ?? 'own'}
        onChange={(next) => change({ zone: next === 'utc' ? 'utc' : undefined })}
      />
    </div>
  )
}
