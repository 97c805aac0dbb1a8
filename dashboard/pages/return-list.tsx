/** Lists the returns of a range, of orders of any day. They explain negative earnings. */
import { api, type ReturnPage } from '../api.ts'
import { articleTitle, date, dollars } from '../format.ts'
import { usePublisher } from '../organization.ts'
import { useRange } from '../range.ts'
import { roomFor } from '../ui/amount.tsx'
import { MoneyLine } from '../ui/money-line.tsx'
import { Progress } from '../ui/notice.tsx'
import { OrderName } from '../ui/order-name.tsx'
import { NextPage, usePages } from '../ui/paged-list.tsx'

type Return = ReturnPage['returns'][number]

export function ReturnList() {
  const { pub_id: pubId } = usePublisher()
  const [range] = useRange()
  const pages = usePages(['returns', pubId, range], (cursor) => api.returns(pubId, range, cursor))
  const returns = pages.data?.pages.flatMap((page) => page.returns) ?? []
  if (returns.length === 0 && pages.failureReason === null) return null
  const room = roomFor(returns.map(({ earnings }) => earnings))
  return (
    <section aria-labelledby="returns" className="space-y-3">
      <h2 id="returns">Returns</h2>
      {returns.length > 0 && (
        <ul className="panel divide-y divide-line">
          {returns.map((one) => (
            <MoneyLine
              key={`${one.order_id} ${one.return_id}`}
              at={one.at}
              title={<OrderName {...one} />}
              details={[`${dollars(one.revenue)} revenue`, articleTitle(one)]}
              verdict={verdict(one)}
              isGood
              earnings={one.earnings}
              room={room}
              result={one.auction_result_number}
            />
          ))}
        </ul>
      )}
      <Progress query={pages} />
      <NextPage pages={pages} label="Earlier returns" />
    </section>
  )
}

function verdict({ quantity, ordered_at, earnings }: Return): string {
  const pieces = quantity === 1 ? 'One item' : `${quantity} items`
  const kept = Number(earnings) === 0 ? ' Your earnings stay the same.' : ''
  if (quantity === 0) {
    return `Part of the price of an order of ${date(ordered_at)} was refunded.${kept}`
  }
  return `${pieces} returned from an order of ${date(ordered_at)}.${kept}`
}
