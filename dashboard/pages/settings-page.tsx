/** A publisher's settings: prices, merchants, links and readers' consent. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, type PublisherSettings, type SettingsBody } from '../api.ts'
import { useCan, usePublisher, usePublisherSettings } from '../organization.ts'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { Progress } from '../ui/notice.tsx'
import { Title } from '../ui/title.tsx'
import { useOneAtATime } from '../ui/use-one-at-a-time.ts'

export function SettingsPage() {
  const { pub_id: pubId, name } = usePublisher()
  const settings = usePublisherSettings()
  return (
    <div className="space-y-5">
      <Title name={name}> · Settings</Title>
      <Progress query={settings} />
      {settings.data !== undefined && <SettingsForm key={pubId} settings={settings.data} />}
    </div>
  )
}

type Name = keyof typeof FIELDS
interface Kind {
  readonly show: (value: unknown) => string
  readonly read: (text: string) => unknown
}

const TEXT: Kind = { show: (value) => String(value ?? ''), read: (text) => text.trim() || null }
const NUMBER: Kind = {
  show: (value) => String(value ?? ''),
  read: (text) => (text.trim() === '' ? null : Number(text)),
}
const PERCENT: Kind = {
  show: (value) => String(Number((Number(value) * 100).toFixed(4))),
  read: (text) => (text.trim() === '' ? null : Number(text) / 100),
}
const words = (text: string) => text.split(/[\s,;]+/).filter((word) => word !== '')
const LIST: Kind = { show: (value) => (value as string[]).join(', '), read: words }
const IDS: Kind = { show: LIST.show, read: (text) => words(text).map(Number) }

/** The settings that can be changed here, with what they mean to an editor. */
const FIELDS = {
  name: { kind: TEXT, label: 'Name', hint: 'Shown to merchants.' },
  domain: { kind: LIST, label: 'Your domains', hint: 'Links to these stay ordinary links.' },
  time_zone: {
    kind: TEXT,
    label: 'Time zone',
    hint: 'Where a day of figures begins: Europe/Berlin.',
  },
  floor: {
    kind: TEXT,
    label: 'Lowest price of a click, in $',
    hint: 'Auctions below it have no winner.',
  },
  category_floor: {
    kind: LIST,
    label: 'Lowest price by category',
    hint: '222=0.10 or 222:GB=0.08, in $. Numbers of Google’s categories.',
  },
  tolerance: {
    kind: PERCENT,
    label: 'Maximum price increase, in %',
    hint: 'How much more a reader may pay than on the page that the article names: 0 to 20.',
  },
  beta: {
    kind: NUMBER,
    label: 'Weight of a lower price',
    hint: '0: only earnings count. 3: cheap offers win far more often.',
  },
  epsilon: {
    kind: PERCENT,
    label: 'Test auctions, in %',
    hint: 'A small share tries less-proven offers, to learn what they earn: 0 to 10.',
  },
  block_merchant: { kind: IDS, label: 'Never these merchants', hint: 'Their numbers.' },
  allow_merchant: { kind: IDS, label: 'Only these merchants', hint: 'Empty: all.' },
  allow_host: { kind: LIST, label: 'Other shops that links may lead to', hint: 'Host names.' },
} as const satisfies Readonly<Record<string, { kind: Kind; label: string; hint: string }>>
const NAMES = Object.keys(FIELDS) as Name[]

function SettingsForm({ settings }: { settings: PublisherSettings }) {
  const { pub_id: pubId } = settings
  const canChange = useCan('settings.write')
  const client = useQueryClient()
  const [texts, setTexts] = useState(() => textsOf(settings))
  const [consent, setConsent] = useState(settings.consent_default)
  const save = useMutation({
    mutationFn: (body: SettingsBody) => api.changePublisherSettings(settings, body),
    onSuccess: (saved) => {
      client.setQueryData(['settings', pubId], saved)
      setTexts(textsOf(saved))
    },
  })
  const form = useFaultFocus(save.error)
  const send = useOneAtATime((body: SettingsBody) => save.mutateAsync(body))
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    await send({ ...changesOf(settings, texts), consent_default: consent } as SettingsBody)
  }
  return (
    <form ref={form} onSubmit={submit} aria-label="Settings" className="panel space-y-4 p-4">
      <fieldset disabled={!canChange} className="grid gap-4 sm:grid-cols-2">
        {NAMES.map((name) => (
          <div key={name}>
            <Field
              name={name}
              label={FIELDS[name].label}
              value={texts[name]}
              onChange={(text) => setTexts({ ...texts, [name]: text })}
              error={save.error}
              isOptional={name !== 'name'}
            />
            <p className="mt-1 text-xs text-soft">{FIELDS[name].hint}</p>
          </div>
        ))}
        <label className="flex items-start gap-2 self-center text-sm">
          <input
            type="checkbox"
            className="mt-0.5 size-4 accent-accent"
            checked={consent === 'full'}
            onChange={({ target }) => setConsent(target.checked ? 'full' : 'contextual')}
          />
          Readers who were not asked count as having agreed
        </label>
      </fieldset>
      <FormFailure error={save.error} fields={NAMES} />
      {save.isSuccess && <p role="status">Saved. It holds within a few seconds.</p>}
      {canChange ? (
        <button type="submit" className="button button-main" aria-busy={save.isPending}>
          Save settings
        </button>
      ) : (
        <p className="text-sm text-soft">You can read these. A manager or owner can change them.</p>
      )}
    </form>
  )
}

type Texts = Readonly<Record<Name, string>>

function textsOf(settings: PublisherSettings): Texts {
  return Object.fromEntries(
    NAMES.map((name) => [name, FIELDS[name].kind.show(settings[name])]),
  ) as Record<Name, string>
}

/** Only what was changed, so that a field nobody touched keeps its exact value. */
function changesOf(settings: PublisherSettings, texts: Texts): Record<string, unknown> {
  const before = textsOf(settings)
  return Object.fromEntries(
    NAMES.filter((name) => texts[name] !== before[name]).map((name) => [
      name,
      FIELDS[name].kind.read(texts[name]),
    ]),
  )
}
