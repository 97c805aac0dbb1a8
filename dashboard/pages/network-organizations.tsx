/** All publishers and merchants: figures, terms, suspension, and new ones. */
import { useState } from 'react'
import { useAddress } from '../address.ts'
import type { NetworkMerchant, NetworkPublisher } from '../network-api.ts'
import { useCan } from '../organization.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { CommandLine } from '../ui/command-line.tsx'
import { Progress } from '../ui/notice.tsx'
import { PageHead, ReadOnlyNote } from '../ui/page-head.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { MerchantForm } from './network-merchant-form.tsx'
import { useMerchants, usePublishers } from './network-names.ts'
import { PublisherForm } from './network-publisher-form.tsx'
import { StateChip } from './network-suspension.tsx'

const VIEWS = [
  { value: 'publishers', label: 'Publishers' },
  { value: 'merchants', label: 'Merchants' },
] as const
type View = (typeof VIEWS)[number]['value']

export function OrganizationsPage() {
  const [{ view: wanted }, change] = useAddress()
  const view: View = wanted === 'merchants' ? 'merchants' : 'publishers'
  // `null`: a new one; undefined: no window.
  const [open, setOpen] = useState<number | null | undefined>()
  const canWrite = useCan('network.write')
  const noun = view === 'merchants' ? 'merchant' : 'publisher'
  const close = () => setOpen(undefined)
  return (
    <div className="space-y-4">
      <PageHead
        title="Organizations"
        purpose="Choose one to change its terms, suspend it, or see its pages as its people do."
      >
        {canWrite && (
          <button type="button" className="button button-main" onClick={() => setOpen(null)}>
            Create {noun}
          </button>
        )}
      </PageHead>
      <ReadOnlyNote permission="network.write" action="change organizations" />
      <Tabs
        label="Kind of organization"
        tabs={VIEWS}
        value={view}
        onChange={(value) => change({ view: value === 'publishers' ? undefined : value })}
      >
        {view === 'publishers' ? (
          <Publishers onOpen={({ pub_id }) => setOpen(pub_id)} />
        ) : (
          <Merchants onOpen={({ merch_id }) => setOpen(merch_id)} />
        )}
      </Tabs>
      {open !== undefined && view === 'publishers' && <PublisherForm id={open} onClose={close} />}
      {open !== undefined && view === 'merchants' && <MerchantForm id={open} onClose={close} />}
      <CommandLine commands={view === 'publishers' ? PUBLISHER_COMMANDS : MERCHANT_COMMANDS} />
    </div>
  )
}

function Publishers({ onOpen }: { onOpen: (row: NetworkPublisher) => void }) {
  const list = usePublishers()
  if (list.data === undefined) return <Loading query={list} />
  return (
    <DataTable
      id="network-publishers"
      label="Publishers"
      isBare
      rows={list.data}
      keyOf={({ pub_id }) => pub_id}
      columns={PUBLISHER_COLUMNS}
      sort={{ by: 'earned' }}
      onRow={onOpen}
      empty={<p className="panel p-6 text-soft">No publisher yet. Create the first one above.</p>}
    />
  )
}

function Merchants({ onOpen }: { onOpen: (row: NetworkMerchant) => void }) {
  const list = useMerchants()
  if (list.data === undefined) return <Loading query={list} />
  return (
    <DataTable
      id="network-merchants"
      label="Merchants"
      isBare
      rows={list.data}
      keyOf={({ merch_id }) => merch_id}
      columns={MERCHANT_COLUMNS}
      sort={{ by: 'cost' }}
      onRow={onOpen}
      empty={<p className="panel p-6 text-soft">No merchant yet. Create the first one above.</p>}
    />
  )
}

/** A skeleton, and the error if loading fails. */
function Loading({ query }: { query: Parameters<typeof Progress>[0]['query'] }) {
  return query.failureReason === null ? <TableSkeleton /> : <Progress query={query} />
}

const stateOf = (one: { is_suspended: boolean }) => (one.is_suspended ? 'Suspended' : 'Active')

const PUBLISHER_COLUMNS: readonly Column<NetworkPublisher>[] = [
  { id: 'name', head: 'Publisher', value: ({ name }) => name },
  {
    ...{ id: 'state', head: 'State', value: stateOf },
    cell: (one) => <StateChip isSuspended={one.is_suspended} />,
  },
  {
    ...{ id: 'earned', head: 'Earned, 30 days', kind: 'money', isSum: true },
    value: (one) => one.earnings_30d,
  },
  {
    ...{ id: 'clicks', head: 'Clicks, 30 days', kind: 'count', isSum: true },
    value: (one) => one.clicks_30d,
  },
  { id: 'share', head: 'Share', kind: 'share', value: ({ share }) => share },
  { id: 'active', head: 'Last active', kind: 'day', value: (one) => one.last_active },
  { id: 'slug', head: 'Short name', value: ({ slug }) => slug, isHidden: true },
  { id: 'id', head: 'ID', value: ({ pub_id }) => String(pub_id), isHidden: true },
  {
    ...{ id: 'created', head: 'Created', kind: 'day', isHidden: true },
    value: (one) => one.datetime_created,
  },
]

const MERCHANT_COLUMNS: readonly Column<NetworkMerchant>[] = [
  { id: 'name', head: 'Merchant', value: ({ name }) => name },
  {
    ...{ id: 'state', head: 'State', value: stateOf },
    cell: (one) => <StateChip isSuspended={one.is_suspended} />,
  },
  {
    ...{ id: 'cost', head: 'Cost, 30 days', kind: 'money', isSum: true },
    value: (one) => one.cost_30d,
  },
  {
    ...{ id: 'clicks', head: 'Clicks, 30 days', kind: 'count', isSum: true },
    value: (one) => one.clicks_30d,
  },
  {
    ...{ id: 'feed', head: 'Feed imported', kind: 'day' },
    value: (one) => one.feed_imported_at,
  },
  { id: 'active', head: 'Last active', kind: 'day', value: (one) => one.last_active },
  { id: 'domain', head: 'Domains', value: ({ domain }) => domain.join(', '), isHidden: true },
  { id: 'id', head: 'ID', value: ({ merch_id }) => String(merch_id), isHidden: true },
  {
    ...{ id: 'created', head: 'Created', kind: 'day', isHidden: true },
    value: (one) => one.datetime_created,
  },
]

const PUBLISHER_COMMANDS = [
  { does: 'List publishers', line: 'souk publisher list' },
  {
    does: 'Create a publisher',
    line: 'souk publisher create --name <N> --slug <S> --user <E>',
  },
  { does: 'Change its share', line: 'souk publisher update --id <ID> --share 0.85' },
] as const

const MERCHANT_COMMANDS = [
  { does: 'List merchants', line: 'souk merchant list' },
  { does: 'Create a merchant', line: 'souk merchant create --name <N> --domain <D>' },
  { does: 'Change its window', line: 'souk merchant update --id <ID> --window-days 30' },
] as const
