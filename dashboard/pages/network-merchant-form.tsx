/** Creates a merchant, or changes its terms. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type NetworkMerchant, network, type Tagged } from '../network-api.ts'
import { useCan } from '../organization.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { DialogForm } from '../ui/dialog-form.tsx'
import { Facts } from '../ui/facts.tsx'
import { Field } from '../ui/field.tsx'
import { Switch } from '../ui/switch.tsx'
import { toast } from '../ui/toast.ts'
import {
  LoadingDialog,
  OpenOrganization,
  ReadOnlyRecord,
  toFraction,
  toParts,
  toPercent,
  useRefresh,
} from './network-record.tsx'
import { Suspension } from './network-suspension.tsx'

export function MerchantForm({ id, onClose }: { id: number | null; onClose: () => void }) {
  const canWrite = useCan('network.write')
  const [secret, setSecret] = useState<{ name: string; secret: string } | null>(null)
  const query = useQuery({
    queryKey: ['network', 'merchant', id],
    queryFn: () => network.merchant(id ?? 0),
    enabled: id !== null,
    staleTime: Infinity, // A form must not change while somebody types.
    gcTime: 0,
  })
  if (secret !== null) return <Secret {...secret} onClose={onClose} />
  if (id === null) {
    const onCreated = (name: string, text: string) => setSecret({ name, secret: text })
    return <Form onClose={onClose} onCreated={onCreated} />
  }
  const record = query.data
  if (record === undefined) {
    return <LoadingDialog title="Merchant" query={query} onClose={onClose} />
  }
  if (!canWrite) return <Shown record={record} onClose={onClose} />
  const { etag } = record
  return <Form key={etag} record={record} onClose={onClose} onReload={() => query.refetch()} />
}

/** The secret signs the reports of the shop's orders. The service shows it once. */
function Secret(props: { name: string; secret: string; onClose: () => void }) {
  return (
    <ReadOnlyRecord title={`${props.name} created`} onClose={props.onClose}>
      <p className="text-sm">
        Its shop signs orders with this secret. Pass it on now. It will not be shown again.
      </p>
      <code className="code">{props.secret}</code>
      <div className="flex gap-2">
        <CopyButton text={props.secret} label="Copy secret" />
        <button type="button" className="button button-small" onClick={props.onClose}>
          Done
        </button>
      </div>
    </ReadOnlyRecord>
  )
}

function Shown({ record, onClose }: { record: NetworkMerchant; onClose: () => void }) {
  const { post_impression_rate: rate } = record
  return (
    <ReadOnlyRecord title={record.name} onClose={onClose}>
      <Facts
        facts={[
          ['Merchant ID', String(record.merch_id)],
          ['Domains', record.domain.join(', ')],
          ['Orders count for', `${record.window_days} days`],
          ['Commission after views', rate === null ? 'none' : `${toPercent(rate)} %`],
        ]}
      />
      <OpenOrganization kind="merchant" id={record.merch_id} />
    </ReadOnlyRecord>
  )
}

const FIELDS = ['name', 'domain', 'window_days', 'post_impression_rate']
/** As MERCHANT_DEFAULTS of the service. */
const DEFAULT_WINDOW = '30'

function useFields(record?: NetworkMerchant) {
  const rate = record?.post_impression_rate ?? null
  const [name, setName] = useState(record?.name ?? '')
  const [domain, setDomain] = useState(record?.domain.join(', ') ?? '')
  const [days, setDays] = useState(String(record?.window_days ?? DEFAULT_WINDOW))
  const [after, setAfter] = useState(rate === null ? '' : toPercent(rate))
  const [second, setSecond] = useState(record?.allow_second_rate ?? false)
  const [confirm, setConfirm] = useState(record?.confirm_orders ?? false)
  return {
    ...{ name, setName, domain, setDomain, days, setDays },
    ...{ after, setAfter, second, setSecond, confirm, setConfirm },
  }
}

function bodyOf({ name, domain, days, after, second, confirm }: ReturnType<typeof useFields>) {
  return {
    ...{ name, domain: toParts(domain), window_days: Number(days) },
    post_impression_rate: after.trim() === '' ? null : toFraction(after),
    ...{ allow_second_rate: second, confirm_orders: confirm },
  }
}

function Form(props: {
  record?: Tagged<NetworkMerchant>
  onClose: () => void
  onReload?: () => void
  onCreated?: (name: string, secret: string) => void
}) {
  const { record, onClose, onReload, onCreated } = props
  const fields = useFields(record)
  const refresh = useRefresh()
  const save = useMutation({
    mutationFn: async () => {
      if (record !== undefined) {
        await network.changeMerchant(record.merch_id, bodyOf(fields), record.etag)
        return void toast('Saved.')
      }
      const { name, postback_secret: secret } = await network.createMerchant(bodyOf(fields))
      onCreated?.(name, secret)
    },
    onSuccess: refresh,
  })
  const { error } = save
  return (
    <DialogForm
      title={record?.name ?? 'Create merchant'}
      button={record === undefined ? 'Create merchant' : 'Save'}
      {...{ error, fields: FIELDS }}
      {...(onReload === undefined ? {} : { onReload })}
      isPending={save.isPending}
      onSubmit={() => save.mutateAsync()}
      onClose={onClose}
      // After a creation, the window shows the secret.
      onDone={() => record !== undefined && onClose()}
    >
      <Inputs fields={fields} error={error} />
      {record !== undefined && (
        <>
          <Suspension
            kind="merchants"
            id={record.merch_id}
            name={record.name}
            isSuspended={record.is_suspended}
            effect="Its campaigns stop, and no click is paid."
          />
          <OpenOrganization kind="merchant" id={record.merch_id} />
        </>
      )}
    </DialogForm>
  )
}

function Inputs({ fields, error }: { fields: ReturnType<typeof useFields>; error: unknown }) {
  const { name, domain, days, after, second, confirm } = fields
  return (
    <>
      <Field name="name" label="Name" value={name} onChange={fields.setName} error={error} />
      <Field
        name="domain"
        label="Domains of its shop, separated by commas"
        autoCapitalize="none"
        value={domain}
        onChange={fields.setDomain}
        error={error}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <Field
          name="window_days"
          label="Orders count for, days"
          inputMode="numeric"
          value={days}
          onChange={fields.setDays}
          error={error}
        />
        <Field
          name="post_impression_rate"
          label="Commission after views, percent"
          inputMode="decimal"
          isOptional
          value={after}
          onChange={fields.setAfter}
          error={error}
        />
      </div>
      <Switch
        label="Hold orders that only browsers report"
        note="A person of the merchant confirms them first."
        isOn={confirm}
        onChange={fields.setConfirm}
      />
      <Switch
        label="Commissions below the agreed rate"
        note="Its contract allows them for products without the full rate."
        isOn={second}
        onChange={fields.setSecond}
      />
    </>
  )
}
