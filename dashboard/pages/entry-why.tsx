/** Explains the cost of an account entry: the auction of a click, or the terms of an order. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type AccountPage, api, type Explanation, type MerchantOrder } from '../api.ts'
import { count, date, dollars, microDollars, percent, time } from '../format.ts'
import { type Fact, Facts, known } from '../ui/facts.tsx'
import { Progress } from '../ui/notice.tsx'

type Entry = AccountPage['entries'][number]

/** Loads only when opened. */
export function EntryWhy({ merchId, entry }: { merchId: number; entry: Entry }) {
  const { auction_result_number: result, order_id: order } = entry
  const [isOpen, setOpen] = useState(false)
  if (result === null && order === null) return null
  return (
    <details className="mt-1" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="link w-fit">
        Why
        {/* Names the entry that this link belongs to, for screen readers. */}
        <span className="sr-only"> it cost this amount at {time(entry.at ?? entry.day)}</span>
      </summary>
      {isOpen && (
        <div className="mt-2">
          {result !== null && <ClickWhy merchId={merchId} result={result} />}
          {order !== null && <OrderWhy merchId={merchId} order={order} />}
        </div>
      )}
    </details>
  )
}

function ClickWhy({ merchId, result }: { merchId: number; result: string }) {
  const receipt = useQuery({
    queryKey: ['merchant receipt', merchId, result],
    queryFn: () => api.merchantReceipt(result),
    staleTime: Infinity,
  })
  if (receipt.data === undefined) return <Progress query={receipt} />
  const { outcome, candidates, replay } = receipt.data
  // A user of the publisher, too, would get every candidate.
  const isOwn = ({ merch_id }: Explanation['candidates'][number]) => merch_id === merchId
  return (
    <>
      <p>{outcome.price_why ?? 'Another merchant won this auction.'}</p>
      {candidates.filter(isOwn).map((candidate) => (
        <Facts key={`${candidate.campaign_id} ${candidate.offer_id}`} facts={factsOf(candidate)} />
      ))}
      <p className="mt-1 text-soft">
        Result {result}
        {replay.kind === 'equal' && '. Replay verified: the stored inputs give this price again.'}
      </p>
    </>
  )
}

function factsOf(candidate: Explanation['candidates'][number]): Fact[] {
  const { campaign_id, bid, value_micros: value, price, reserve, loss } = candidate
  return [
    ['Campaign', String(campaign_id)],
    ...known('Bid', bid === null ? null : dollars(bid)),
    ...known('Value of a click', value === null ? null : microDollars(value)),
    ...known('Floor', reserve === null ? null : dollars(reserve)),
    ...known('Your price for the reader', price === null ? null : dollars(price)),
    ...known('Lost', loss?.why ?? null),
  ]
}

function OrderWhy({ merchId, order }: { merchId: number; order: string }) {
  const record = useQuery({
    queryKey: ['merchant order', merchId, order],
    queryFn: () => api.merchantOrder(merchId, order),
  })
  if (record.data === undefined) return <Progress query={record} />
  const { data } = record
  return (
    <>
      <p>
        {costWords(data)} {stateWords(data)}
      </p>
      <Facts
        facts={[
          ['Reported as', `${data.value} ${data.currency}`],
          ...known('Revenue', dollars(data.revenue_usd)),
          ...known('Revenue less returns', dollars(data.net_revenue_usd)),
          ...known('Cost less returns', dollars(data.net_commission_usd)),
          ...known('Attributed to', clickWords(data)),
        ]}
      />
    </>
  )
}

function costWords({ terms, revenue_usd, commission_usd }: MerchantOrder): string {
  if (terms === null) return 'No click of a smart link led to this order, so it costs nothing.'
  const { rate, payment_usd: payment } = terms
  if (rate !== null) {
    return `${percent(rate)} of ${dollars(revenue_usd)} is ${dollars(commission_usd)}.`
  }
  return `A fixed payment of ${dollars(payment ?? commission_usd)} per order, whatever its value.`
}

function stateWords({ state, hold, locks_at, reject_reason: reason }: MerchantOrder): string {
  if (hold === 'review') return 'It waits for your approval.'
  if (hold === 'no_rate') return 'It waits for the exchange rate of its day.'
  if (state === 'REJECTED') {
    return `Rejected: ${reason === 'cancelled' ? 'you cancelled it' : reason}.`
  }
  if (locks_at === null) return ''
  return `${state === 'PENDING' ? 'You may cancel it until' : 'Final since'} ${date(locks_at)}.`
}

function clickWords({ evidence, attribution }: MerchantOrder): string | null {
  const won = evidence.find(({ verdict }) => verdict === 'won')
  if (won === undefined) return null
  const at = won.clicked_at === null ? '' : ` of ${date(won.clicked_at)}, ${time(won.clicked_at)}`
  const what = attribution === 'impression' ? 'a view of the link' : `the click${at}`
  return evidence.length > 1 ? `${what} (${count(evidence.length)} candidates)` : what
}
