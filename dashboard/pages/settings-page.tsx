/** A publisher's settings: prices, merchants, links and readers' consent. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type PublisherSettings, type SettingsBody } from '../api.ts'
import { usePublisher, usePublisherSettings } from '../organization.ts'
import { Progress } from '../ui/notice.tsx'
import { type Setting, SettingsForm } from '../ui/settings-form.tsx'
import { Switch } from '../ui/switch.tsx'
import { Title } from '../ui/title.tsx'

export function SettingsPage() {
  const { pub_id: pubId, name } = usePublisher()
  const settings = usePublisherSettings()
  return (
    <div className="space-y-5">
      <Title name={name}> · Settings</Title>
      <Progress query={settings} />
      {settings.data !== undefined && <PublisherForm key={pubId} settings={settings.data} />}
    </div>
  )
}

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

const setting = (
  name: keyof PublisherSettings,
  { show, read }: Kind,
  words: Pick<Setting<PublisherSettings>, 'label' | 'hint' | 'isNeeded'>,
): [string, Setting<PublisherSettings>] => [name, { ...words, show: (of) => show(of[name]), read }]

/** The settings that can be changed here, with what they mean to an editor. */
const FIELDS = Object.fromEntries([
  setting('name', TEXT, { label: 'Name', hint: 'Shown to merchants.', isNeeded: true }),
  setting('domain', LIST, {
    ...{ label: 'Your domains', hint: 'Links to these stay ordinary links.' },
  }),
  setting('time_zone', TEXT, {
    ...{ label: 'Time zone', hint: 'Where a day of figures begins: Europe/Berlin.' },
  }),
  setting('floor', TEXT, {
    ...{ label: 'Lowest price of a click, in $', hint: 'Auctions below it have no winner.' },
  }),
  setting('category_floor', LIST, {
    label: 'Lowest price by category',
    hint: '222=0.10 or 222:GB=0.08, in $. Numbers of Google’s categories.',
  }),
  setting('tolerance', PERCENT, {
    label: 'Maximum price increase, in %',
    hint: 'How much more a reader may pay than on the page that the article names: 0 to 20.',
  }),
  setting('beta', NUMBER, {
    label: 'Weight of a lower price',
    hint: '0: only earnings count. 3: cheap offers win far more often.',
  }),
  setting('epsilon', PERCENT, {
    label: 'Test auctions, in %',
    hint: 'A small share tries less-proven offers, to learn what they earn: 0 to 10.',
  }),
  setting('block_merchant', IDS, { label: 'Never these merchants', hint: 'Their numbers.' }),
  setting('allow_merchant', IDS, { label: 'Only these merchants', hint: 'Empty: all.' }),
  setting('allow_host', LIST, {
    ...{ label: 'Other shops that links may lead to', hint: 'Host names.' },
  }),
])

function PublisherForm({ settings }: { settings: PublisherSettings }) {
  const { pub_id: pubId } = settings
  const client = useQueryClient()
  const [consent, setConsent] = useState(settings.consent_default)
  return (
    <SettingsForm
      settings={settings}
      fields={FIELDS}
      others={{ consent_default: consent }}
      save={(changes) => api.changePublisherSettings(settings, changes as SettingsBody)}
      reload={() => api.publisherSettings(pubId)}
      onShown={(present) => {
        client.setQueryData(['settings', pubId], present)
        setConsent(present.consent_default)
      }}
    >
      {(canChange) => (
        <Switch
          label="Readers who were not asked count as having agreed"
          isOn={consent === 'full'}
          isDisabled={!canChange}
          onChange={(isOn) => setConsent(isOn ? 'full' : 'contextual')}
        />
      )}
    </SettingsForm>
  )
}
