/** Explains the cost of an account entry: the auction of a click, or the terms of an order. */
import { useQuery } from '@tanstack/react-query'
import { type AccountPage, api, type Explanation } from '../api.ts'
import { dollars, microDollars } from '../format.ts'
import { type Fact, Facts, known } from '../ui/facts.tsx'
import { Progress } from '../ui/notice.tsx'
import { clickWords, costWords, orderStateWords } from './order-words.ts'

type Entry = AccountPage['entries'][number]

export function EntryWhy({ merchId, entry }: { merchId: number; entry: Entry }) {
  const { auction_result_number: result, order_id: order } = entry
  return (
    <>
      {result !== null && <ClickWhy merchId={merchId} result={result} />}
      {order !== null && <OrderWhy merchId={merchId} order={order} />}
    </>
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
        {costWords(data)} {orderStateWords(data)}
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
