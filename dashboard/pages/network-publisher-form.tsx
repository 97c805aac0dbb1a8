/** Creates a publisher, or changes its terms. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type NetworkPublisher, network, type Tagged } from '../network-api.ts'
import { useCan } from '../organization.ts'
import { DialogForm } from '../ui/dialog-form.tsx'
import { Facts } from '../ui/facts.tsx'
import { Field } from '../ui/field.tsx'
import { Switch } from '../ui/switch.tsx'
import { toast } from '../ui/toast.ts'
import { OwnerField } from './network-owner-field.tsx'
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

export function PublisherForm({ id, onClose }: { id: number | null; onClose: () => void }) {
  const canWrite = useCan('network.write')
  const query = useQuery({
    queryKey: ['network', 'publisher', id],
    queryFn: () => network.publisher(id ?? 0),
    enabled: id !== null,
    staleTime: Infinity, // A form must not change while somebody types.
    gcTime: 0,
  })
  if (id === null) return <Form onClose={onClose} onReload={() => undefined} />
  const record = query.data
  if (record === undefined) {
    return <LoadingDialog title="Publisher" query={query} onClose={onClose} />
  }
  if (!canWrite) return <Shown record={record} onClose={onClose} />
  const { etag } = record
  return <Form key={etag} record={record} onClose={onClose} onReload={() => query.refetch()} />
}

function Shown({ record, onClose }: { record: NetworkPublisher; onClose: () => void }) {
  return (
    <ReadOnlyRecord title={record.name} onClose={onClose}>
      <Facts
        facts={[
          ['Publisher ID', String(record.pub_id)],
          ['Short name', record.slug],
          ['Share', `${toPercent(record.share)} %`],
          ['Lowest price of a click', `$${record.floor}`],
          ['Domains', record.domain.join(', ') || 'none'],
        ]}
      />
      <OpenOrganization kind="publisher" id={record.pub_id} />
    </ReadOnlyRecord>
  )
}

const FIELDS = ['name', 'slug', 'uid', 'domain', 'share', 'floor']

function useFields(record?: NetworkPublisher) {
  const [name, setName] = useState(record?.name ?? '')
  const [slug, setSlug] = useState(record?.slug ?? '')
  const [uid, setUid] = useState<number | null>(record?.uid ?? null)
  const [domain, setDomain] = useState(record?.domain.join(', ') ?? '')
  const [share, setShare] = useState(toPercent(record?.share ?? DEFAULT_SHARE))
  const [floor, setFloor] = useState(record?.floor ?? '0')
  const [partner, setPartner] = useState(record?.partner ?? false)
  return {
    ...{ name, setName, slug, setSlug, uid, setUid, domain, setDomain },
    ...{ share, setShare, floor, setFloor, partner, setPartner },
  }
}

/** As PUBLISHER_DEFAULTS of the service. */
const DEFAULT_SHARE = 0.75

function Form(props: {
  record?: Tagged<NetworkPublisher>
  onClose: () => void
  onReload: () => void
}) {
  const { record, onClose, onReload } = props
  const fields = useFields(record)
  const refresh = useRefresh()
  const save = useMutation({
    mutationFn: () => {
      const { name, slug, uid, domain, share, floor, partner } = fields
      const terms = { share: toFraction(share), floor, partner }
      const body = { name, slug, uid: uid ?? 0, domain: toParts(domain), ...terms }
      return record === undefined
        ? network.createPublisher(body)
        : network.changePublisher(record.pub_id, body, record.etag)
    },
    onSuccess: ({ name, pub_id: id }) => {
      void toast(record === undefined ? `${name} created, publisher ${id}.` : 'Saved.')
      return refresh()
    },
  })
  const { error } = save
  return (
    <DialogForm
      title={record?.name ?? 'Create publisher'}
      button={record === undefined ? 'Create publisher' : 'Save'}
      {...{ error, onClose, onReload, fields: FIELDS }}
      isPending={save.isPending}
      onSubmit={() => save.mutateAsync()}
    >
      <Inputs fields={fields} error={error} />
      {record !== undefined && (
        <>
          <Suspension
            kind="publishers"
            id={record.pub_id}
            name={record.name}
            isSuspended={record.is_suspended}
            effect="Its links stop earning and lead to their own pages."
          />
          <OpenOrganization kind="publisher" id={record.pub_id} />
        </>
      )}
    </DialogForm>
  )
}

function Inputs({ fields, error }: { fields: ReturnType<typeof useFields>; error: unknown }) {
  const { name, slug, uid, domain, share, floor, partner } = fields
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field name="name" label="Name" value={name} onChange={fields.setName} error={error} />
        <Field
          name="slug"
          label="Short name in URLs"
          autoCapitalize="none"
          value={slug}
          onChange={fields.setSlug}
          error={error}
        />
        <Field
          name="share"
          label="Share of each price, percent"
          inputMode="decimal"
          value={share}
          onChange={fields.setShare}
          error={error}
        />
        <Field
          name="floor"
          label="Lowest price of a click, $"
          inputMode="decimal"
          value={floor}
          onChange={fields.setFloor}
          error={error}
        />
      </div>
      <OwnerField uid={uid} onChange={fields.setUid} />
      <Field
        name="domain"
        label="Domains of its pages, separated by commas"
        isOptional
        autoCapitalize="none"
        value={domain}
        onChange={fields.setDomain}
        error={error}
      />
      <Switch label="Member of the partner program" isOn={partner} onChange={fields.setPartner} />
    </>
  )
}
