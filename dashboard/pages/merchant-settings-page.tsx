/** A merchant's settings: name, domains, links, attribution, currency, review of orders. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { percent } from '../format.ts'
import { type MerchantSettings, type MerchantSettingsBody, merchantApi } from '../merchant-api.ts'
import { useCan, useMerchant } from '../organization.ts'
import { Conflict } from '../ui/conflict.tsx'
import { Facts } from '../ui/facts.tsx'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { Progress } from '../ui/notice.tsx'
import { Switch } from '../ui/switch.tsx'
import { Title } from '../ui/title.tsx'
import { toast } from '../ui/toast.ts'
import { useOneAtATime } from '../ui/use-one-at-a-time.ts'

export function MerchantSettingsPage() {
  const { merch_id: merchId, name } = useMerchant()
  const settings = useQuery({
    queryKey: ['merchant settings', merchId],
    queryFn: () => merchantApi.settings(merchId),
    staleTime: Infinity, // A form must not change while somebody types.
  })
  return (
    <div className="max-w-3xl space-y-5">
      <Title name={name}>{' · Settings'}</Title>
      <Progress query={settings} />
      {settings.data !== undefined && <SettingsForm key={merchId} settings={settings.data} />}
    </div>
  )
}

const words = (text: string) => text.split(/[\s,;]+/).filter((word) => word !== '')
const orNull = (text: string) => text.trim() || null

/** The settings of the form: how the record is shown as text and read from it. */
const FIELDS = {
  name: {
    label: 'Name',
    hint: 'Shown to readers and publishers.',
    show: (of: MerchantSettings) => of.name,
    read: (text: string) => text.trim(),
  },
  domain: {
    label: 'Domains of your shop',
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
} as const
type Name = keyof typeof FIELDS
const NAMES = Object.keys(FIELDS) as Name[]
const NEEDED: readonly Name[] = ['name', 'domain']

type Texts = Readonly<Record<Name, string>>

const textsOf = (settings: MerchantSettings): Texts =>
  Object.fromEntries(NAMES.map((name) => [name, FIELDS[name].show(settings)])) as Record<
    Name,
    string
  >

/** The values of the form, and what saving and reloading do to them. */
function useSettingsForm(settings: MerchantSettings) {
  const { merch_id: merchId } = settings
  const client = useQueryClient()
  const [texts, setTexts] = useState(() => textsOf(settings))
  const [isReviewed, setReviewed] = useState(settings.confirm_orders)
  const show = (present: MerchantSettings) => {
    client.setQueryData(['merchant settings', merchId], present)
    setTexts(textsOf(present))
    setReviewed(present.confirm_orders)
  }
  const save = useMutation({
    mutationFn: (body: MerchantSettingsBody) => merchantApi.changeSettings(settings, body),
    onSuccess: (saved) => {
      show(saved)
      void client.invalidateQueries({ queryKey: ['me'] }) // It has the name in the menu.
      void toast('Saved. It holds within a few seconds.')
    },
  })
  const reload = async () => {
    show(await merchantApi.settings(merchId))
    save.reset()
  }
  return { texts, setTexts, isReviewed, setReviewed, save, reload }
}

function SettingsForm({ settings }: { settings: MerchantSettings }) {
  const canChange = useCan('settings.write')
  const { texts, setTexts, isReviewed, setReviewed, save, reload } = useSettingsForm(settings)
  const form = useFaultFocus(save.error)
  const send = useOneAtATime((body: MerchantSettingsBody) => save.mutateAsync(body))
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    await send({ ...changesOf(settings, texts), confirm_orders: isReviewed })
  }
  return (
    <form ref={form} onSubmit={submit} aria-label="Settings" className="panel space-y-5 p-4">
      <fieldset disabled={!canChange} className="grid gap-4 sm:grid-cols-2">
        {NAMES.map((name) => (
          <div key={name}>
            <Field
              name={name}
              label={FIELDS[name].label}
              value={texts[name]}
              onChange={(text) => setTexts({ ...texts, [name]: text })}
              error={save.error}
              isOptional={!NEEDED.includes(name)}
            />
            <p className="mt-1 text-xs text-soft">{FIELDS[name].hint}</p>
          </div>
        ))}
      </fieldset>
      <Switch
        label="Review orders that only a browser reported"
        note="They wait until your server, a file or a person confirms them."
        isOn={isReviewed}
        isDisabled={!canChange}
        onChange={setReviewed}
      />
      <Contract settings={settings} />
      <FormFailure error={save.error} fields={NAMES} />
      <Conflict error={save.error} onReload={reload} />
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

/** Only the changed fields, so that a field nobody touched stays as it is. */
function changesOf(settings: MerchantSettings, texts: Texts): MerchantSettingsBody {
  const before = textsOf(settings)
  return Object.fromEntries(
    NAMES.filter((name) => texts[name] !== before[name]).map((name) => [
      name,
      FIELDS[name].read(texts[name]),
    ]),
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
