/** Lists clicks with their earnings, the reason, and a link to the receipt. */
import type { ClickPage } from '../api.ts'
import { articleTitle, dollars } from '../format.ts'
import { roomFor } from './amount.tsx'
import { MoneyLine } from './money-line.tsx'

type Click = ClickPage['clicks'][number]

export function ClickList(props: { clicks: readonly Click[]; hasReceiptLinks: boolean }) {
  const room = roomFor(props.clicks.map(({ earnings }) => earnings))
  return (
    <ul className="panel divide-y divide-line">
      {props.clicks.map((click) => (
        <MoneyLine
          key={click.click_id}
          at={click.at}
          title={<bdi>{click.product_name ?? click.merchant_name ?? 'The original page'}</bdi>}
          details={[click.product_name === null ? null : click.merchant_name, articleTitle(click)]}
          verdict={verdict(click)}
          isGood={click.is_counted}
          earnings={click.earnings}
          room={room}
          result={props.hasReceiptLinks ? click.auction_result_number : null}
        />
      ))}
    </ul>
  )
}

/** The reason for the click's earnings. */
function verdict({ is_counted, why, model, price }: Click): string {
  if (!is_counted) return `Unpaid. ${why}`
  switch (model) {
    case 'cpc':
      return `Paid. The merchant pays ${dollars(price)}.`
    case 'cpa':
      return 'Valid. If the reader buys, the commission appears under “Orders”.'
    case 'epp':
      return 'Valid. If the reader buys, a fixed payment appears under “Orders”.'
    default:
      return 'Valid. Nobody won the auction, so the reader went to the original page.'
  }
}
