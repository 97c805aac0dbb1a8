/** A merchant's settings: name, domains, links, attribution, currency, review of orders. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { percent } from '../format.ts'
import { type MerchantSettings, merchantApi } from '../merchant-api.ts'
import { useMerchant } from '../organization.ts'
import { Facts } from '../ui/facts.tsx'
import { Progress } from '../ui/notice.tsx'
import { type Setting, SettingsForm } from '../ui/settings-form.tsx'
import { Switch } from '../ui/switch.tsx'
import { Title } from '../ui/title.tsx'

export function MerchantSettingsPage() {
  const { merch_id: merchId, name } = useMerchant()
  const settings = useQuery({
    queryKey: ['merchant settings', merchId],
    queryFn: () => merchantApi.settings(merchId),
    staleTime: Infinity, // A form must not change while somebody types.
  })
  return (
    <div className="space-y-5">
      <Title name={name}>{' · Settings'}</Title>
      <Progress query={settings} />
      {settings.data !== undefined && <MerchantForm key={merchId} settings={settings.data} />}
    </div>
  )
}

const words = (text: string) => text.split(/[\s,;]+/).filter((word) => word !== '')
const orNull = (text: string) => text.trim() || null

/** The settings of the form: how the record is shown as text and read from it. */
const FIELDS = {
  name: {
    label: 'Name',
    isNeeded: true,
    hint: 'Shown to readers and publishers.',
    show: (of: MerchantSettings) => of.name,
    read: (text: string) => text.trim(),
  },
  domain: {
    label: 'Domains of your shop',
    isNeeded: true,
    hint: 'The first one is shown. Links to all of them can be paid.',
    show: (of: MerchantSettings) => of.domain.join(', '),
    read: words,
  },
  click_param: {
    label: 'Click parameter',
    hint: 'The query parameter that carries the click id to your shop, such as cid.',
    show: (of: MerchantSettings) => of.click_param,
    read: orNull,
  },
  deep_link: {
    label: 'Deep link template',
    hint: 'Of another network, with {url_encoded} and perhaps {cid}. Empty: straight to your shop.',
    show: (of: MerchantSettings) => of.deep_link ?? '',
    read: orNull,
  },
  window_days: {
    label: 'Attribution window, in days',
    hint: 'How long after a click an order counts.',
    show: (of: MerchantSettings) => String(of.window_days),
    read: (text: string) => (text.trim() === '' ? null : Number(text)),
  },
  default_currency: {
    label: 'Default currency',
    hint: 'Of prices in your feed that name none, such as EUR.',
    show: (of: MerchantSettings) => of.default_currency ?? '',
    read: (text: string) => orNull(text.toUpperCase()),
  },
  origin: {
    label: 'Other origins',
    hint: 'Of checkout pages outside your domains: https://checkout.example',
    show: (of: MerchantSettings) => of.origin.join(', '),
    read: words,
  },
} as const satisfies Readonly<Record<string, Setting<MerchantSettings>>>

function MerchantForm({ settings }: { settings: MerchantSettings }) {
  const { merch_id: merchId } = settings
  const client = useQueryClient()
  const [isReviewed, setReviewed] = useState(settings.confirm_orders)
  return (
    <SettingsForm
      settings={settings}
      fields={FIELDS}
      others={{ confirm_orders: isReviewed }}
      save={(changes) => merchantApi.changeSettings(settings, changes)}
      reload={() => merchantApi.settings(merchId)}
      onShown={(present) => {
        client.setQueryData(['merchant settings', merchId], present)
        setReviewed(present.confirm_orders)
      }}
    >
      {(canChange) => (
        <>
          <Switch
            label="Review orders that only a browser reported"
            note="They wait until your server, a file or a person confirms them."
            isOn={isReviewed}
            isDisabled={!canChange}
            onChange={setReviewed}
          />
          <Contract settings={settings} />
        </>
      )}
    </SettingsForm>
  )
}

/** Set by the network; shown because they decide about costs. */
function Contract({ settings }: { settings: MerchantSettings }) {
  const { post_impression_rate: rate, allow_second_rate: isAllowed } = settings
  return (
    <div>
      <p className="text-sm font-medium">Agreed with the operator of this network</p>
      <Facts
        facts={[
          ['Commission after a link that was only seen', rate === null ? 'none' : percent(rate)],
          ['Campaigns may pay only the rate that still wins', isAllowed ? 'yes' : 'no'],
        ]}
      />
    </div>
  )
}
