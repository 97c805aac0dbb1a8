/** One order of a merchant: its state, its cost, the click that led to it, products and returns. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, type MerchantOrder } from '../api.ts'
import { date, dollars, time } from '../format.ts'
import { useCan, useMerchant } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { Progress } from '../ui/notice.tsx'
import { Sums } from '../ui/sums.tsx'
import { Table } from '../ui/table.tsx'
import { Title } from '../ui/title.tsx'
import { OrderDecision } from './order-decision.tsx'
import { isWaiting, OrderState } from './order-state.tsx'
import { clickWords, costWords, orderStateWords } from './order-words.ts'
import { goodsOf, RETURN_STATES, refusalOf } from './return-words.ts'

export function MerchantOrderPage() {
  const { order: id } = useParams({ from: PATHS.merchantOrder })
  const { merch_id: merchId } = useMerchant()
  const canDecide = useCan('orders.review')
  const order = useQuery({
    queryKey: ['merchant order', merchId, id],
    queryFn: () => api.merchantOrder(merchId, id),
  })
  return (
    <div className="space-y-5">
      <div>
        <p className="text-sm text-soft">
          <Link to={PATHS.merchantOrders} className="link">
            Orders
          </Link>{' '}
          / order
        </p>
        <div className="mt-0.5 flex flex-wrap items-center gap-3">
          <Title name={id}>{''}</Title>
          {order.data !== undefined && <OrderState order={order.data} />}
        </div>
      </div>
      <Progress query={order} />
      {order.data !== undefined && (
        <>
          {isWaiting(order.data) && (
            <section
              aria-label="Decision"
              className="panel flex flex-wrap items-center justify-between gap-3 border-second bg-second-tint px-4 py-3"
            >
              <p>
                {canDecide
                  ? 'This order waits for your decision.'
                  : 'This order waits. A manager or owner can approve or reject it.'}
              </p>
              {canDecide && <OrderDecision merchId={merchId} order={order.data} />}
            </section>
          )}
          <Details order={order.data} />
        </>
      )}
    </div>
  )
}

const LED: Readonly<Record<string, string>> = {
  exact: 'A click',
  visitor: 'A click of the same reader',
  impression: 'A link that was seen',
}

function Details({ order }: { order: MerchantOrder }) {
  return (
    <>
      <Sums
        sums={[
          {
            name: 'Cost',
            value: dollars(order.net_commission_usd),
            note: costWords(order),
          },
          {
            name: 'Revenue',
            value: dollars(order.net_revenue_usd),
            note: `reported as ${order.value} ${order.currency}`,
          },
          {
            name: 'Led to it',
            value: LED[order.attribution ?? ''] ?? 'No smart link',
            note: clickWords(order) ?? 'so it costs nothing',
          },
        ]}
      />
      <p className="text-sm text-soft">{orderStateWords(order)}</p>
      {order.lines.length > 0 && <Products order={order} />}
      {order.returns.length > 0 && <Returns order={order} />}
      {order.evidence.length > 0 && <Evidence order={order} />}
      <Reports order={order} />
    </>
  )
}

const NAME = 'min-w-40 font-medium wrap-anywhere'

function Products({ order: { lines } }: { order: MerchantOrder }) {
  return (
    <Section id="products" title="Products">
      <Table
        label="Products of this order"
        rows={lines}
        keyOf={(line) => line.order_product_id}
        name={{
          head: 'Product',
          cell: (line) => <bdi>{line.name ?? line.product_id ?? 'Unnamed'}</bdi>,
          className: NAME,
        }}
        columns={[
          { head: 'Price', cell: ({ price }) => price ?? '–' },
          { head: 'Ordered', cell: ({ quantity }) => quantity },
          { head: 'Returned', cell: ({ returned }) => returned },
          { head: 'Revenue', cell: (line) => dollars(line.line_revenue_usd) },
          { head: 'Cost', cell: (line) => dollars(line.line_commission_usd) },
        ]}
      />
    </Section>
  )
}

function Returns({ order: { returns } }: { order: MerchantOrder }) {
  return (
    <Section id="returns" title="Returns">
      <Table
        label="Returns of this order"
        rows={returns}
        keyOf={({ return_id }) => return_id}
        name={{
          head: 'Return',
          cell: ({ return_id, reason }) => (
            <>
              <bdi>{return_id}</bdi>
              {reason !== null && <span className="block text-soft">{refusalOf(reason)}</span>}
            </>
          ),
          className: NAME,
        }}
        columns={[
          { head: 'State', cell: ({ state }) => RETURN_STATES[state] ?? state },
          { head: 'Reported', cell: ({ accepted_at }) => date(accepted_at) },
          {
            head: 'Returned',
            cell: goodsOf,
          },
          { head: 'Cost saved', cell: (row) => dollars(row.return_commission_usd) },
        ]}
      />
    </Section>
  )
}

const VERDICTS: Readonly<Record<MerchantOrder['evidence'][number]['verdict'], string>> = {
  won: 'Led to the order',
  older_than_winner: 'Older than the click that counts',
  not_named: 'Not among the click ids of the order',
  outside_window: 'Before your attribution window',
  after_order: 'After the order',
  other_merchant: 'Led to another shop',
  invalid_click: 'Not a valid click',
  unknown_click: 'Unknown click id',
}

function Evidence({ order: { evidence } }: { order: MerchantOrder }) {
  return (
    <Section id="clicks" title="Clicks compared">
      <Table
        label="Clicks compared"
        rows={evidence}
        keyOf={({ click_id, verdict }) => `${click_id} ${verdict}`}
        name={{
          head: 'Click',
          cell: ({ click_id }) => (
            <span className="font-mono text-xs">{click_id ?? 'of another publisher'}</span>
          ),
          className: NAME,
        }}
        columns={[
          {
            head: 'Time',
            cell: ({ clicked_at: at }) => (at === null ? '–' : `${date(at)}, ${time(at)} UTC`),
          },
          { head: 'Result', cell: ({ verdict }) => VERDICTS[verdict] },
        ]}
      />
    </Section>
  )
}

const SOURCES = { pixel: 'Browser', import: 'File', s2s: 'Your server' } as const

function Reports({ order: { reports } }: { order: MerchantOrder }) {
  return (
    <Section id="reports" title="Reports received">
      <Table
        label="Reports received"
        rows={reports}
        keyOf={({ event_id }) => event_id}
        name={{ head: 'From', cell: ({ source }) => SOURCES[source], className: NAME }}
        columns={[
          { head: 'Time', cell: ({ updated_at: at }) => `${date(at)}, ${time(at)} UTC` },
          { head: 'Value', cell: ({ value, currency }) => `${value} ${currency}` },
          {
            head: 'Remark',
            cell: ({ is_cancelled, is_test }) =>
              is_test ? 'Test' : is_cancelled ? 'Cancelled' : '–',
          },
        ]}
      />
    </Section>
  )
}

function Section(props: { id: string; title: string; children: ReactNode }) {
  return (
    <section aria-labelledby={props.id} className="panel">
      <h2 id={props.id} className="px-4 pt-3 pb-2">
        {props.title}
      </h2>
      {props.children}
    </section>
  )
}
