/** One order: the product clicked and those bought, the rate, the device, and the evidence. */
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api } from '../api.ts'
import { articleTitle, date, dollars, percent, shortUrl, time } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { PATHS } from '../paths.ts'
import { type Order, publisherApi } from '../publisher-api.ts'
import { EmptyState, Progress } from '../ui/notice.tsx'
import { Title } from '../ui/title.tsx'
import { OrderLines } from './order-lines.tsx'

export function OrderPage() {
  const { id } = useParams({ from: PATHS.order })
  const { pub_id: pubId } = usePublisher()
  const order = useQuery({
    queryKey: ['order', pubId, id],
    queryFn: () => publisherApi.order(pubId, id),
  })
  return (
    <div className="space-y-5">
      <p className="mb-1! text-sm text-soft">
        <Link to={PATHS.orders} className="link">
          Orders
        </Link>{' '}
        / order
      </p>
      {order.data === undefined ? (
        <>
          <Title>Order</Title>
          <Progress query={order} />
        </>
      ) : (
        <Shown order={order.data} />
      )}
    </div>
  )
}

function Shown({ order }: { order: Order }) {
  const { checkout_id: checkout, net_earnings_usd: earned } = order
  return (
    <>
      <Title name={checkout}>{` · ${dollars(earned)}`}</Title>
      <Money order={order} />
      <ClickOfOrder order={order} />
      <OrderLines lines={order.lines} />
      <Evidence order={order} />
    </>
  )
}

function Money({ order }: { order: Order }) {
  const { terms, revenue_usd, commission_usd, earnings_usd, net_earnings_usd } = order
  const facts: [string, ReactNode][] = [
    ['State', stateWords(order)],
    ['Ordered', when(order.ordered_at)],
    ['Reported as', order.value === null ? '–' : `${order.value} ${order.currency}`],
    ['Revenue', dollars(revenue_usd)],
    ['Rate', rateWords(terms)],
    ['Commission', dollars(commission_usd)],
    [
      'You earn',
      `${dollars(earnings_usd)}${terms === null ? '' : `, ${percent(terms.share)} of it`}`,
    ],
    ...(net_earnings_usd === earnings_usd
      ? []
      : [['After returns', dollars(net_earnings_usd)] as [string, ReactNode]]),
  ]
  return <FactPanel id="money" title="What it earned" facts={facts} />
}

const when = (at: string | null): string => (at === null ? '–' : `${date(at)}, ${time(at)} UTC`)

function rateWords(terms: Order['terms']): string {
  if (terms === null) return '–'
  if (terms.rate !== null) return `${percent(terms.rate)} of the revenue`
  if (terms.payment_usd !== null) return `${dollars(terms.payment_usd)} per purchase`
  return 'The merchant pays per click, so the order earns nothing more'
}

const STATES: Readonly<Record<Order['state'], string>> = {
  PENDING: 'Pending: the merchant may still cancel it',
  LOCKED: 'Final',
  PAID: 'Final and paid',
  REJECTED: 'Rejected',
}

function stateWords({ state, locks_at: locks, reject_reason: reason, hold }: Order): string {
  if (hold === 'review') return 'Waits for approval'
  if (hold === 'no_rate') return 'Waits for the exchange rate of its day'
  if (state === 'PENDING' && locks !== null) return `${STATES[state]} until ${date(locks)}`
  return reason === null ? STATES[state] : `${STATES[state]}: ${reason}`
}

/** The click that led to the order, from its receipt. */
function ClickOfOrder({ order }: { order: Order }) {
  const { click_id: clickId, attribution } = order
  const click = useQuery({
    queryKey: ['click of order', clickId],
    queryFn: () => readClick(clickId ?? ''),
    enabled: clickId !== null,
    staleTime: Infinity,
    retry: false,
  })
  if (clickId === null) return null
  if (click.data === undefined) return <Progress query={click} />
  const { receipt, result } = click.data
  const clicked = receipt.clicks.find(({ click_id: id }) => id === clickId) ?? receipt.clicks[0]
  const request = receipt.explanation?.request
  const facts: [string, ReactNode][] = [
    ['Clicked', when(clicked?.at ?? null)],
    ['Product clicked', <bdi key="p">{clicked?.product_name ?? '–'}</bdi>],
    ['Shop', <bdi key="s">{clicked?.merchant_name ?? '–'}</bdi>],
    ['Article', <bdi key="a">{articleTitle(receipt) ?? '–'}</bdi>],
    ['Link', <LinkOf key="l" id={receipt.auction_id} url={receipt.link_url} />],
    ['Device', request?.device ?? 'no longer stored'],
    ['Country', request === undefined ? 'no longer stored' : (request.country ?? 'unknown')],
    ['Recognized by', attributionWords(attribution)],
    [
      'Proof',
      <Link key="r" to={PATHS.receipt} params={{ result }} className="link">
        Receipt of the auction
      </Link>,
    ],
  ]
  return <FactPanel id="click" title="The click that led to it" facts={facts} />
}

async function readClick(clickId: string) {
  const { auction_result_number: result } = await api.merchantReceipt(clickId)
  return { result, receipt: await api.receipt(result) }
}

function LinkOf({ id, url }: { id: string; url: string | null }) {
  return (
    <Link to={PATHS.link} params={{ id }} className="link">
      <bdi>{url === null ? id : shortUrl(url)}</bdi>
    </Link>
  )
}

function attributionWords(attribution: string | null): string {
  switch (attribution) {
    case 'exact':
      return 'the click ID that the shop reported'
    case 'visitor':
      return 'the same browser'
    case 'impression':
      return 'a view of the link, without a click'
    default:
      return '–'
  }
}

function FactPanel(props: { id: string; title: string; facts: [string, ReactNode][] }) {
  const { id, title, facts } = props
  return (
    <section aria-labelledby={id} className="panel p-4">
      <h2 id={id}>{title}</h2>
      <dl className="mt-3 grid gap-x-8 gap-y-2 text-sm sm:grid-cols-2">
        {facts.map(([name, value]) => (
          <div key={name} className="flex justify-between gap-4 border-b border-line pb-2">
            <dt className="text-soft">{name}</dt>
            <dd className="number min-w-0 text-right wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

const VERDICTS: Readonly<Record<Order['evidence'][number]['verdict'], string>> = {
  won: 'Led to this order',
  older_than_winner: 'A later click won',
  not_named: 'The shop named another click',
  outside_window: 'Too long before the order',
  after_order: 'After the order',
  other_merchant: 'Led to another shop',
  invalid_click: 'Not a valid click',
  unknown_click: 'No such click is known',
}

/** The clicks that competed for the order, and why one won. */
function Evidence({ order: { evidence, reports } }: { order: Order }) {
  if (evidence.length === 0) {
    return (
      <EmptyState title="No click led to this order">
        The shop reported it without a click of a smart link.
      </EmptyState>
    )
  }
  return (
    <section aria-labelledby="evidence">
      <h2 id="evidence" className="mb-2">
        Evidence
      </h2>
      <ul className="panel divide-y divide-line text-sm">
        {evidence.map(({ click_id: id, clicked_at: at, verdict }, index) => (
          <li
            key={id ?? index}
            className="flex flex-wrap justify-between gap-x-6 gap-y-1 px-4 py-2.5"
          >
            <span>{VERDICTS[verdict]}</span>
            <span className="number text-soft">
              {at === null ? 'of another publisher' : when(at)}
            </span>
          </li>
        ))}
        {reports.map((report) => (
          <li
            key={report.source}
            className="flex flex-wrap justify-between gap-x-6 gap-y-1 px-4 py-2.5"
          >
            <span>{SOURCES[report.source]}</span>
            <span className="number text-soft">
              {report.value} {report.currency}, {when(report.updated_at)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

const SOURCES: Readonly<Record<Order['reports'][number]['source'], string>> = {
  pixel: 'Reported by the shop’s page, in the buyer’s browser',
  s2s: 'Reported by the shop’s server, signed',
  import: 'Reported in a file of the shop',
}
