/** A merchant's account: every click, order, return and payment, each with its reason. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { type AccountPage, api, ledgerUrl } from '../api.ts'
import { cents, date, dollars, time } from '../format.ts'
import { useMerchant } from '../organization.ts'
import { useRange } from '../range.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'
import { RangeTitle } from '../ui/range-title.tsx'
import { CardsSkeleton, TableSkeleton } from '../ui/skeleton.tsx'
import { Sums } from '../ui/sums.tsx'
import { EntryWhy } from './entry-why.tsx'

type Entry = AccountPage['entries'][number]

export function MerchantAccountPage() {
  const { merch_id: merchId, name } = useMerchant()
  const [{ from, to }] = useRange()
  const range = useMemo(() => ({ from, to }), [from, to])
  return (
    <div className="space-y-5">
      <RangeTitle name={name}>{' · Account'}</RangeTitle>
      <Owed merchId={merchId} />
      <p className="max-w-prose text-sm text-soft">
        Costs have no sign. A minus sign marks money that reduces the amount you owe: returns,
        reversed clicks and your payments.
      </p>
      <Entries merchId={merchId} range={range} />
    </div>
  )
}

/** As of now, whatever days are chosen. */
export function Owed({ merchId }: { merchId: number }) {
  const [range] = useRange()
  const overview = useQuery({
    queryKey: ['merchant', merchId, range],
    queryFn: () => api.merchantOverview(merchId, range),
  })
  if (overview.failureReason !== null) return <Progress query={overview} />
  if (overview.data === undefined) return <CardsSkeleton cards={3} />
  const { owed_usd: owed, not_due_usd: pending, credit_usd: credit } = overview.data
  return (
    <Sums
      sums={[
        { name: 'Owed now', value: cents(owed), note: 'due, and not paid yet' },
        {
          name: 'Not due yet',
          value: cents(pending),
          note: 'today’s clicks, and orders that can still be cancelled',
        },
        { name: 'Credit', value: cents(credit), note: 'towards your next bill' },
      ]}
    />
  )
}

function Entries({ merchId, range }: { merchId: number; range: { from: string; to: string } }) {
  const pages = usePages(['entries', merchId, range], (cursor) =>
    api.entries(merchId, range, cursor),
  )
  const [shown, show] = useState<Entry | null>(null)
  if (pages.failureReason !== null) return <Progress query={pages} />
  if (pages.data === undefined) return <TableSkeleton rows={12} />
  const entries = pages.data.pages.flatMap((page) => page.entries)
  return (
    <>
      <DataTable
        id="account"
        label="Account entries"
        rows={entries}
        keyOf={({ line }) => line}
        columns={COLUMNS}
        onRow={show}
        empty={<NoEntry />}
        note={
          <>
            Choose an entry to see why it cost this amount.{' '}
            <a href={ledgerUrl(merchId, range)} download className="link">
              Save all entries of these days as CSV
            </a>{' '}
            (as in the ledger, where costs are negative).
          </>
        }
      />
      <NextPage pages={pages} label="Earlier entries" />
      {shown !== null && (
        <Dialog title={titleOf(shown)} isOpen onOpenChange={() => show(null)}>
          <p className="number mb-2 text-lg font-semibold">{dollars(costOf(shown))}</p>
          {shown.auction_result_number === null && shown.order_id === null ? (
            <p>{PLAIN[shown.kind ?? ''] ?? 'No further details are stored.'}</p>
          ) : (
            <div className="text-sm">
              <EntryWhy merchId={merchId} entry={shown} />
            </div>
          )}
        </Dialog>
      )}
    </>
  )
}

const PLAIN: Readonly<Record<string, string>> = {
  payment: 'The operator of this network received it from you.',
  payment_reversal: 'The operator reversed this payment, so the amount is owed again.',
}

/** What the entry adds to the amount owed. In the ledger, owed money is negative. */
export function costOf({ amount_usd: amount }: Pick<Entry, 'amount_usd'>): string {
  if (amount.startsWith('-')) return amount.slice(1)
  return Number(amount) === 0 ? amount : `-${amount}`
}

const COLUMNS: readonly Column<Entry>[] = [
  { id: 'what', head: 'Entry', value: titleOf },
  {
    ...{ id: 'at', head: 'Time (UTC)', value: ({ at, day }: Entry) => at ?? day },
    cell: ({ at, day }) => (at === null ? date(day) : `${date(day)}, ${time(at)}`),
  },
  { id: 'amount', head: 'Amount', kind: 'money', isSum: true, value: costOf },
  { id: 'publisher', head: 'Publisher', value: (entry) => entry.publisher_name },
  {
    ...{ id: 'campaign', head: 'Campaign' },
    value: ({ campaign_id: id }) => (id === null ? null : `Campaign ${id}`),
  },
]

function titleOf({ kind, order_id: order, payment_reference: payment }: Entry): string {
  switch (kind) {
    case 'click':
      return 'Click'
    case 'reversal':
      return 'Click reversed'
    case 'order':
      return `Order ${order}`
    case 'revision':
      return `Order ${order}, changed`
    case 'return':
      return `Return of order ${order}`
    case 'payment':
      return `Your payment ${payment}`
    case 'payment_reversal':
      return `Your payment ${payment} was reversed`
    default:
      return kind ?? 'Entry without details. Please report this line to the operator.'
  }
}

function NoEntry() {
  return (
    <EmptyState title="No entries in this period">
      Clicks and orders appear here as soon as they cost you something. Your payments appear here
      too.
    </EmptyState>
  )
}
