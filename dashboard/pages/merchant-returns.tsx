/** The returns of a merchant's orders in the days of the page. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { days, merchantApi, type ShopReturn } from '../merchant-api.ts'
import { useMerchant } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { useRange } from '../range.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { NextPage } from '../ui/paged-list.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'
import { goodsOf, RETURN_STATES, refusalOf } from './return-words.ts'

export function MerchantReturns() {
  const { merch_id: merchId } = useMerchant()
  const [{ from, to }] = useRange()
  const navigate = useNavigate()
  const pages = useInfiniteQuery({
    queryKey: ['shop returns', merchId, { from, to }],
    queryFn: ({ pageParam: cursor }) =>
      merchantApi.returns(merchId, { ...days({ from, to }), cursor }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
  if (pages.data === undefined) {
    return pages.failureReason === null ? <TableSkeleton rows={10} /> : <Progress query={pages} />
  }
  return (
    <div className="space-y-5">
      {pages.failureReason !== null && <Progress query={pages} />}
      <DataTable
        id="returns"
        label="Returns"
        isBare
        rows={pages.data.pages.flatMap((page) => page.rows)}
        keyOf={(row) => `${row.checkout_id} ${row.return_id}`}
        columns={COLUMNS}
        sort={{ by: 'accepted' }}
        onRow={({ checkout_id: order }) =>
          void navigate({ to: PATHS.merchantOrder, params: { order } })
        }
        empty={
          <EmptyState title="No returns in this period">
            A return appears on the day that your shop’s server reports it. Choose more days, or see
            the page “Tag” for how to report one.
          </EmptyState>
        }
      />
      <NextPage pages={pages} label="Earlier returns" />
    </div>
  )
}

const TONES: Readonly<Record<ShopReturn['state'], string>> = {
  applied: 'bg-tint text-accent',
  waiting: 'bg-second-tint text-second',
  refused: 'bg-bad-tint text-bad',
}

const COLUMNS: readonly Column<ShopReturn>[] = [
  { id: 'return', head: 'Return', value: ({ return_id }) => return_id },
  { id: 'accepted', head: 'Reported', kind: 'day', value: ({ accepted_at }) => accepted_at },
  { id: 'order', head: 'Order', value: ({ checkout_id }) => checkout_id },
  { id: 'products', head: 'Product', value: ({ products }) => products },
  { id: 'goods', head: 'Returned', value: goodsOf },
  {
    ...{ id: 'revenue', head: 'Revenue', kind: 'money', isSum: true },
    value: (row) => row.return_revenue_usd,
  },
  {
    ...{ id: 'cost', head: 'Cost', kind: 'money', isSum: true },
    value: (row) => row.return_commission_usd,
  },
  {
    ...{ id: 'state', head: 'State', value: ({ state }) => RETURN_STATES[state] ?? state },
    cell: ({ state }) => <span className={`chip ${TONES[state]}`}>{RETURN_STATES[state]}</span>,
  },
  { id: 'reason', head: 'Refused because', value: ({ reason }) => refusalOf(reason) },
  {
    ...{ id: 'returned', head: 'Sent back', kind: 'day', isHidden: true },
    value: ({ returned_at }) => returned_at,
  },
]
