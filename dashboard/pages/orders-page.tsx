/** Lists the attributed orders of a range with their earnings and click. */
import { Link } from '@tanstack/react-router'
import { api, type OrderPage } from '../api.ts'
import { articleTitle, date, dollars } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { useRange } from '../range.ts'
import { type Room, roomFor } from '../ui/amount.tsx'
import { MoneyLine } from '../ui/money-line.tsx'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { OrderName } from '../ui/order-name.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'
import { RangeTitle } from '../ui/range-title.tsx'
import { ReturnList } from './return-list.tsx'

type Order = OrderPage['orders'][number]

export function OrdersPage() {
  const { pub_id: pubId } = usePublisher()
  const [range] = useRange()
  const pages = usePages(['orders', pubId, range], (cursor) => api.orders(pubId, range, cursor))
  const orders = pages.data?.pages.flatMap((page) => page.orders) ?? []
  const room = roomFor(orders.map(({ earnings }) => earnings))
  return (
    <div className="space-y-5">
      <RangeTitle>Orders</RangeTitle>
      {pages.isSuccess && orders.length === 0 && <NoOrders />}
      {orders.length > 0 && (
        <ul className="panel divide-y divide-line">
          {orders.map((order) => (
            <OrderLine key={order.order_id} order={order} room={room} />
          ))}
        </ul>
      )}
      <Progress query={pages} />
      <NextPage pages={pages} label="Earlier orders" />
      {pages.isSuccess && <ReturnList />}
    </div>
  )
}

function OrderLine({ order, room }: { order: Order; room: Room }) {
  return (
    <MoneyLine
      at={order.at}
      title={
        <Link to={PATHS.order} params={{ id: order.order_id }} className="hover:underline">
          <OrderName {...order} />
        </Link>
      }
      details={[`${dollars(order.revenue)} revenue`, articleTitle(order)]}
      verdict={verdict(order)}
      isGood={order.state !== 'REJECTED'}
      earnings={order.earnings}
      room={room}
      result={order.auction_result_number}
    />
  )
}

const REJECTED: Readonly<Record<string, string>> = {
  cancelled: 'The merchant cancelled it.',
  test: 'The merchant sent it as a test.',
  click_reversed: 'The click behind this order was not valid.',
}

/** The reason for the order's earnings, and whether they can still change. */
function verdict(order: Order): string {
  const { state, model, locks_at, reject_reason: reason } = order
  if (state === 'REJECTED') return `Rejected. ${REJECTED[reason ?? ''] ?? reason ?? ''}`
  const gone = order.is_cancelled
    ? ' The merchant cancelled it later, so it is not counted as a sale.'
    : ''
  // The click's receipt says whether the click was paid.
  if (model === 'cpc') return `Paid per click, so the order earns nothing.${gone}`
  const back =
    Number(order.returned) > 0 ? ` Returns reduced it by ${dollars(order.returned)}.` : ''
  const kind = model === 'epp' ? 'A fixed payment' : 'A commission'
  if (state === 'PENDING') return `${kind}, not final until ${date(locks_at)}.${back}`
  return `${kind}, final since ${date(locks_at)}.${back}${gone}`
}

function NoOrders() {
  return (
    <EmptyState title="No orders in this period">
      An order appears on the day the shop reports it. Orders follow when readers click a link of a
      merchant who pays a commission, and then buy.
    </EmptyState>
  )
}
