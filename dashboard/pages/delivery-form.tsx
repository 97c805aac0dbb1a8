/** Sets up a storage for report files, or changes one. Keys are sent, and never shown again. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Delivery, deliveries } from '../delivery-api.ts'
import { DialogForm } from '../ui/dialog-form.tsx'
import { Field } from '../ui/field.tsx'
import { Switch } from '../ui/switch.tsx'

const FIELDS = ['target', 'endpoint', 'region', 'access_key', 'secret_key'] as const
type Fields = Readonly<Record<(typeof FIELDS)[number], string>>

const orNull = (text: string): string | null => text.trim() || null

export function DeliveryForm(props: {
  pubId: number
  /** Null: a new one. */
  delivery: Delivery | null
  onClose: () => void
}) {
  const { pubId, delivery, onClose } = props
  const [fields, setFields] = useState<Fields>({
    ...{ access_key: '', secret_key: '', target: delivery?.target ?? '' },
    ...{ endpoint: delivery?.endpoint ?? '', region: delivery?.region ?? '' },
  })
  const [isGzip, setGzip] = useState(delivery?.is_gzip ?? true)
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: () => {
      const body = {
        ...{ endpoint: orNull(fields.endpoint), region: orNull(fields.region), is_gzip: isGzip },
        ...keysOf(fields),
      }
      if (delivery !== null) return deliveries.change(delivery, body)
      return deliveries.create(pubId, { ...body, target: fields.target.trim() })
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ['deliveries', pubId] }),
  })
  const { error } = save
  return (
    <DialogForm
      title={delivery === null ? 'Add storage' : `Edit ${delivery.target}`}
      button={delivery === null ? 'Add storage' : 'Save'}
      fields={FIELDS}
      error={error}
      isPending={save.isPending}
      onSubmit={() => save.mutateAsync()}
      onClose={onClose}
    >
      <StorageFields delivery={delivery} fields={fields} onChange={setFields} error={error} />
      <Switch label="Compress files (gzip)" isOn={isGzip} onChange={setGzip} />
    </DialogForm>
  )
}

function StorageFields(props: {
  delivery: Delivery | null
  fields: Fields
  onChange: (fields: Fields) => void
  error: Error | null
}) {
  const { delivery, fields, onChange, error } = props
  const field = (name: keyof Fields) => ({
    name,
    value: fields[name],
    onChange: (value: string) => onChange({ ...fields, [name]: value }),
    error,
  })
  const key = { type: 'password', autoComplete: 'off', isOptional: delivery !== null } as const
  return (
    <>
      {delivery === null && (
        <Field
          {...field('target')}
          label="Bucket and folder"
          placeholder="s3://my-bucket/souk"
          autoCapitalize="none"
        />
      )}
      <Field
        {...field('endpoint')}
        label="Endpoint, unless it is Amazon S3"
        type="url"
        isOptional
        placeholder="https://storage.example"
      />
      <Field {...field('region')} label="Region" isOptional placeholder="us-east-1" />
      <Field {...field('access_key')} {...key} label="Access key" />
      <Field {...field('secret_key')} {...key} label="Secret key" />
      <p className="text-sm text-soft">
        {delivery === null
          ? 'The keys need permission to write into the folder, and are never shown again.'
          : 'Leave both keys empty to use the stored ones.'}
      </p>
    </>
  )
}

/** Only the keys that were typed: the others stay as they are. */
function keysOf({ access_key, secret_key }: Fields) {
  const given = Object.entries({ access_key, secret_key }).filter(([, key]) => key.trim() !== '')
  return Object.fromEntries(given.map(([name, key]) => [name, key.trim()]))
}
