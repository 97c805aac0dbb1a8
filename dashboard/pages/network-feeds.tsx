/** The product feed of every merchant: the last import, its error, and another try. */
import { useMutation } from '@tanstack/react-query'
import { useMemo } from 'react'
import { date } from '../format.ts'
import { type NetworkMerchant, network } from '../network-api.ts'
import { useCan } from '../organization.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { CommandLine } from '../ui/command-line.tsx'
import { EmptyState, Failure, Progress } from '../ui/notice.tsx'
import { PageHead, ReadOnlyNote } from '../ui/page-head.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'
import { toast } from '../ui/toast.ts'
import { useMerchants } from './network-names.ts'

/** Offers of an older feed no longer bid; as FEED_AGE_MAX_MS of the service. */
const FRESH_MS = 24 * 3_600_000

export function FeedsPage() {
  const merchants = useMerchants()
  const canWrite = useCan('feeds.write')
  const columns = useMemo(() => (canWrite ? [...COLUMNS, RETRY] : COLUMNS), [canWrite])
  return (
    <div className="space-y-4">
      <PageHead
        title="Feeds"
        purpose="Offers bid for 24 hours after their feed was imported. A failed import changes nothing before that."
      />
      <ReadOnlyNote permission="feeds.write" action="import feeds" />
      {merchants.data === undefined && merchants.failureReason === null && <TableSkeleton />}
      {merchants.failureReason !== null && <Progress query={merchants} />}
      {merchants.data !== undefined && (
        <DataTable
          id="network-feeds"
          label="Feeds"
          isBare
          rows={byUrgency(merchants.data)}
          keyOf={({ merch_id }) => merch_id}
          columns={columns}
          empty={
            <EmptyState title="No merchant yet">
              Each merchant’s feed appears here once you have created the merchant.
            </EmptyState>
          }
        />
      )}
      <CommandLine
        commands={[
          {
            does: 'Import a feed from a file or a URL',
            line: 'souk feed import --merchant <ID> --file <PATH or URL>',
          },
          { does: 'See which feeds are too old to bid', line: 'souk doctor' },
        ]}
      />
    </div>
  )
}

/** In the order of urgency. */
const STATES = ['Failed', 'Too old to bid', 'Good', 'No feed'] as const

function stateOf({ feed_error, feed_imported_at: at }: NetworkMerchant): (typeof STATES)[number] {
  if (feed_error !== null) return 'Failed'
  if (at === null) return 'No feed'
  return Date.now() - Date.parse(at) > FRESH_MS ? 'Too old to bid' : 'Good'
}

const byUrgency = (merchants: readonly NetworkMerchant[]) =>
  merchants.toSorted((one, other) => STATES.indexOf(stateOf(one)) - STATES.indexOf(stateOf(other)))

function State({ merchant }: { merchant: NetworkMerchant }) {
  const state = stateOf(merchant)
  const tones = { Failed: 'bg-bad-tint text-bad', Good: 'bg-tint text-accent' } as const
  const tone = state === 'Failed' || state === 'Good' ? tones[state] : ''
  return <span className={`chip ${tone}`}>{state}</span>
}

const COLUMNS: readonly Column<NetworkMerchant>[] = [
  { id: 'merchant', head: 'Merchant', value: ({ name }) => name },
  {
    ...{ id: 'state', head: 'Feed' },
    value: stateOf,
    cell: (one) => <State merchant={one} />,
  },
  {
    ...{ id: 'imported', head: 'Imported', kind: 'day' },
    value: (one) => one.feed_imported_at,
    cell: ({ feed_imported_at: at }) => (at === null ? 'never' : date(at)),
  },
  { id: 'error', head: 'Error', value: ({ feed_error }) => feed_error },
  { id: 'source', head: 'Source', value: ({ feed_url }) => feed_url },
]

const RETRY: Column<NetworkMerchant> = {
  ...{ id: 'retry', head: 'Import', value: () => null },
  cell: (one) => (one.feed_url === null ? 'uploaded by hand' : <Retry merchant={one} />),
}

function Retry({ merchant }: { merchant: NetworkMerchant }) {
  const { merch_id: id, name } = merchant
  const start = useMutation({
    mutationFn: () => network.importFeed(id),
    onSuccess: () => toast(`The feed of ${name} is being imported.`),
  })
  return (
    <>
      <button
        type="button"
        className="button button-small"
        aria-label={`Import now: ${name}`}
        aria-busy={start.isPending}
        onClick={() => start.isPending || start.mutate()}
      >
        Import now
      </button>
      {start.error !== null && <Failure error={start.error} />}
    </>
  )
}
