/** Messages about events of a publisher: which ones, and where they go. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { faultsOf, isConflict } from '../api.ts'
import { usePublisher } from '../organization.ts'
import { type Alerts, type AlertsChange, publisherApi } from '../publisher-api.ts'
import { Field, FormFailure, useFaultFocus } from '../ui/field.tsx'
import { Progress } from '../ui/notice.tsx'
import { Switch } from '../ui/switch.tsx'
import { Title } from '../ui/title.tsx'
import { toast } from '../ui/toast.ts'
import { useOneAtATime } from '../ui/use-one-at-a-time.ts'

type Kind = Alerts['kinds'][number]

const KINDS: readonly { readonly kind: Kind; readonly label: string; readonly note: string }[] = [
  {
    ...{ kind: 'link_stopped', label: 'A link stops earning' },
    note: 'Nobody pays for it any more, its product is out of stock, or its page is gone.',
  },
  {
    ...{ kind: 'merchant_trouble', label: 'A merchant is in trouble' },
    note: 'It has nothing in stock, or has owed money for more than 30 days.',
  },
  {
    ...{ kind: 'payout_ready', label: 'A payout is ready' },
    note: 'Your monthly statement is issued.',
  },
  {
    ...{ kind: 'no_tag_traffic', label: 'The page tag reports nothing' },
    note: 'No page view for 24 hours.',
  },
  {
    ...{ kind: 'key_from_new_place', label: 'An API key is used from a new place' },
    note: 'If it was not you, disable the key under Developer.',
  },
]

export function AlertsPage() {
  const { pub_id: pubId } = usePublisher()
  const alerts = useQuery({
    queryKey: ['alerts', pubId],
    queryFn: () => publisherApi.alerts(pubId),
    staleTime: Infinity, // A form must not change while somebody types.
  })
  return (
    <div className="space-y-5">
      <Title>Alerts</Title>
      <p className="max-w-prose text-soft">
        Get a message when something needs you. All new events of one kind come in one message, each
        at most once a day.
      </p>
      <Progress query={alerts} />
      {alerts.data !== undefined && <AlertsForm key={alerts.data.etag} alerts={alerts.data} />}
    </div>
  )
}

const listOf = (text: string) => text.split(/[\s,;]+/).filter((word) => word !== '')

function AlertsForm({ alerts }: { alerts: Alerts }) {
  const { pub_id: pubId } = alerts
  const client = useQueryClient()
  const [kinds, setKinds] = useState<ReadonlySet<Kind>>(() => new Set(alerts.kinds))
  const [emails, setEmails] = useState(alerts.emails.join(', '))
  const [webhook, setWebhook] = useState(alerts.webhook_url ?? '')
  const save = useMutation({
    mutationFn: (body: AlertsChange) => publisherApi.saveAlerts(alerts, body),
    onSuccess: (saved) => {
      client.setQueryData(['alerts', pubId], saved)
      void toast('Saved.')
    },
  })
  const form = useFaultFocus(save.error)
  const send = useOneAtATime(save.mutateAsync)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    await send({
      kinds: [...kinds],
      emails: listOf(emails),
      webhook_url: webhook.trim() || null,
    })
  }
  const goesNowhere = kinds.size > 0 && listOf(emails).length === 0 && webhook.trim() === ''
  return (
    <form ref={form} onSubmit={submit} aria-label="Alerts" className="panel space-y-5 p-4">
      <KindSwitches kinds={kinds} onChange={setKinds} />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          name="emails"
          label="E-mail addresses, separated by commas"
          value={emails}
          onChange={setEmails}
          error={emailFault(save.error, listOf(emails))}
          isOptional
          placeholder="editor@magazine.example"
        />
        <Field
          name="webhook_url"
          label="Webhook, such as one of Slack"
          type="url"
          value={webhook}
          onChange={setWebhook}
          error={save.error}
          isOptional
          placeholder="https://hooks.slack.example/…"
        />
      </div>
      {goesNowhere && (
        <p role="status" className="text-sm text-second">
          Give an e-mail address or a webhook, or no message is sent.
        </p>
      )}
      <Failed error={save.error} pubId={pubId} />
      <button type="submit" className="button button-main" aria-busy={save.isPending}>
        Save alerts
      </button>
    </form>
  )
}

function KindSwitches(props: {
  kinds: ReadonlySet<Kind>
  onChange: (kinds: ReadonlySet<Kind>) => void
}) {
  const { kinds, onChange } = props
  const turn = (kind: Kind, isOn: boolean) =>
    onChange(new Set(isOn ? [...kinds, kind] : [...kinds].filter((one) => one !== kind)))
  return (
    <fieldset className="space-y-3">
      <legend className="mb-2 font-medium">Notify me when</legend>
      {KINDS.map(({ kind, label, note }) => (
        <Switch
          key={kind}
          label={label}
          note={note}
          isOn={kinds.has(kind)}
          onChange={(isOn) => turn(kind, isOn)}
        />
      ))}
    </fieldset>
  )
}

function Failed({ error, pubId }: { error: Error | null; pubId: number }) {
  const client = useQueryClient()
  if (!isConflict(error)) {
    const isOfEmails = faultsOf(error).some(({ field }) => field.startsWith('emails'))
    return isOfEmails ? null : <FormFailure error={error} fields={['webhook_url']} />
  }
  return (
    <p role="alert" className="rounded-lg bg-bad-tint px-4 py-3 text-bad">
      Somebody else has changed the alerts meanwhile.{' '}
      <button
        type="button"
        className="underline"
        onClick={() => void client.invalidateQueries({ queryKey: ['alerts', pubId] })}
      >
        Load their change
      </button>
    </p>
  )
}

/** The service names an address by its place in the list; the field shows the address itself. */
function emailFault(error: Error | null, emails: readonly string[]): unknown {
  const fault = faultsOf(error).find(({ field }) => field.startsWith('emails'))
  if (fault === undefined || error === null) return error
  const at = Number(/\d+/.exec(fault.field)?.[0] ?? 0)
  const rule = `“${emails[at] ?? ''}” ${fault.rule}`
  return Object.assign(Object.create(Object.getPrototypeOf(error)), error, {
    faults: [{ field: 'emails', rule }],
  })
}
