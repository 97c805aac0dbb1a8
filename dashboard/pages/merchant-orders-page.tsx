/** A merchant's orders and returns, orders that wait for a decision, and refused reports. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useAddress } from '../address.ts'
import { days, merchantApi, type ShopOrder } from '../merchant-api.ts'
import { useCan, useMerchant } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { useRange } from '../range.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
import { Choice } from '../ui/choice.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { NextPage } from '../ui/paged-list.tsx'
import { RangeTitle } from '../ui/range-title.tsx'
import { TableSkeleton } from '../ui/skeleton.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { MerchantReturns } from './merchant-returns.tsx'
import { OrderDecision } from './order-decision.tsx'
import { OrderState } from './order-state.tsx'
import { RefusedList } from './refused-list.tsx'

const STATES = [
  { value: 'all', label: 'All' },
  { value: 'HELD', label: 'Waiting' },
  { value: 'PENDING', label: 'Can change' },
  { value: 'LOCKED', label: 'Final' },
  { value: 'PAID', label: 'Paid' },
  { value: 'REJECTED', label: 'Rejected' },
] as const

const VIEWS = [
  { value: 'orders', label: 'Orders' },
  { value: 'returns', label: 'Returns' },
] as const

export function MerchantOrdersPage() {
  const { merch_id: merchId, name } = useMerchant()
  const [{ view: wanted }, change] = useAddress()
  const view = VIEWS.find(({ value }) => value === wanted)?.value ?? 'orders'
  return (
    <div className="space-y-5">
      <RangeTitle name={name}>{' · Orders'}</RangeTitle>
      <Tabs
        label="Orders or returns"
        tabs={VIEWS}
        value={view}
        onChange={(next) => change({ view: next === 'orders' ? undefined : next })}
      >
        {view === 'orders' ? <ShopOrders merchId={merchId} /> : <MerchantReturns />}
      </Tabs>
      <RefusedList merchId={merchId} />
    </div>
  )
}

function ShopOrders({ merchId }: { merchId: number }) {
  const [{ state }, change] = useAddress()
  const [{ from, to }] = useRange()
  const chosen = STATES.find(({ value }) => value === state)?.value ?? 'all'
  const isHeld = chosen === 'HELD'
  const pages = useInfiniteQuery({
    queryKey: ['shop orders', merchId, chosen, isHeld ? null : { from, to }],
    queryFn: ({ pageParam: cursor }) =>
      merchantApi.orders(merchId, {
        // An order that waits must not be missed, whatever days are chosen.
        ...(isHeld ? {} : days({ from, to })),
        state: chosen === 'all' ? null : chosen,
        cursor,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
  const rows = pages.data?.pages.flatMap((page) => page.rows) ?? []
  const show = (next: string) => change({ state: next === 'all' ? undefined : next })
  return (
    <div className="space-y-5">
      <Held merchId={merchId} isShown={isHeld} onShow={() => show('HELD')} />
      <Choice label="Which orders" options={STATES} value={chosen} onChange={show} />
      {isHeld && (
        <p className="text-sm text-soft">
          Orders of all days that wait for a decision or for an exchange rate. A rejected order
          costs nothing.
        </p>
      )}
      {pages.failureReason !== null && <Progress query={pages} />}
      {pages.data === undefined && pages.failureReason === null && <TableSkeleton rows={10} />}
      {pages.data !== undefined && <Orders merchId={merchId} rows={rows} chosen={chosen} />}
      <NextPage pages={pages} label="Earlier orders" />
    </div>
  )
}

function Held(props: { merchId: number; isShown: boolean; onShow: () => void }) {
  const { merchId, isShown, onShow } = props
  const canDecide = useCan('orders.review')
  const held = useQuery({
    queryKey: ['shop orders', merchId, 'held'],
    queryFn: () => merchantApi.orders(merchId, { state: 'HELD' }),
  })
  const waiting = held.data?.rows.filter(({ hold }) => hold === 'review').length ?? 0
  if (waiting === 0 || isShown) return null
  const more = held.data?.next === null ? '' : 'More than '
  const decider = canDecide ? 'your decision' : 'the decision of a manager or owner'
  return (
    <section
      aria-label="Waiting orders"
      className="panel flex flex-wrap items-center justify-between gap-3 border-second bg-second-tint px-4 py-3"
    >
      <p className="font-medium">
        {more}
        {waiting} {waiting === 1 ? 'order waits' : 'orders wait'} for {decider}.
      </p>
      <button type="button" className="button" onClick={onShow}>
        Show {waiting === 1 ? 'it' : 'them'}
      </button>
    </section>
  )
}

function Orders(props: { merchId: number; rows: readonly ShopOrder[]; chosen: string }) {
  const { merchId, rows, chosen } = props
  const canDecide = useCan('orders.review')
  const navigate = useNavigate()
  const columns = useMemo(() => columnsOf(merchId, canDecide, chosen), [merchId, canDecide, chosen])
  return (
    <DataTable
      key={chosen === 'HELD' ? 'held' : 'all'}
      id={chosen === 'HELD' ? 'held-orders' : 'orders'}
      label="Orders"
      isBare
      rows={rows}
      keyOf={(row) => row.checkout_id}
      columns={columns}
      sort={{ by: 'accepted' }}
      onRow={({ checkout_id: order }) =>
        void navigate({ to: PATHS.merchantOrder, params: { order } })
      }
      empty={<NoOrders chosen={chosen} />}
      {...(chosen === 'HELD' && !canDecide
        ? { note: 'A manager or owner of this merchant can approve and reject orders.' }
        : {})}
    />
  )
}

function columnsOf(
  merchId: number,
  canDecide: boolean,
  chosen: string,
): readonly Column<ShopOrder>[] {
  const all: readonly Column<ShopOrder>[] = [
    { id: 'order', head: 'Order', value: ({ checkout_id }) => checkout_id },
    { id: 'accepted', head: 'Accepted', kind: 'day', value: ({ accepted_at }) => accepted_at },
    {
      ...{ id: 'state', head: 'State', value: ({ state, hold }) => hold ?? state },
      cell: (order) => <OrderState order={order} />,
    },
    {
      ...{ id: 'value', head: 'As reported', isHidden: chosen !== 'HELD' },
      value: ({ value, currency }) => (value === null ? null : `${value} ${currency}`),
    },
    {
      ...{ id: 'revenue', head: 'Revenue', kind: 'money', isSum: true },
      value: (order) => order.net_revenue_usd,
    },
    {
      ...{ id: 'cost', head: 'Cost', kind: 'money', isSum: true },
      value: (order) => order.net_commission_usd,
    },
    { id: 'publisher', head: 'Publisher', value: (order) => order.publisher_name },
    {
      ...{ id: 'campaign', head: 'Campaign', isHidden: true },
      value: ({ campaign_id: id }) => (id === null ? null : `Campaign ${id}`),
    },
    {
      id: 'reason',
      head: 'Rejected because',
      value: ({ reject_reason }) => reject_reason,
      isHidden: chosen !== 'REJECTED',
    },
  ]
  if (chosen !== 'HELD' || !canDecide) return all
  const decision: Column<ShopOrder> = {
    ...{ id: 'decision', head: 'Decision', value: () => null },
    cell: (order) => <OrderDecision merchId={merchId} order={order} isSmall />,
  }
  return [...all.slice(0, 2), decision, ...all.slice(2)]
}

function NoOrders({ chosen }: { chosen: string }) {
  if (chosen === 'HELD') {
    return (
      <EmptyState title="No order waits">
        Orders that only a browser reported wait here if your settings say so, and orders in a
        currency without a rate.
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No orders in this period">
      {chosen === 'all'
        ? 'An order appears on the day that your shop reports it. Choose more days, or send a test order from the page “Tag”.'
        : 'Choose “All” or more days to see other orders.'}
    </EmptyState>
  )
}
