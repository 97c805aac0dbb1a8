/** Clicks, each with what it earned or why nothing, and the way to its receipt. */
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
          title={
            <bdi>{click.product_name ?? click.merchant_name ?? 'The link’s own destination'}</bdi>
          }
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

/** Why this click earned what it did. */
function verdict({ is_counted, why, model, price }: Click): string {
  if (!is_counted) return `Not paid. ${why}`
  switch (model) {
    case 'cpc':
      return `Paid: the merchant pays ${dollars(price)} for it.`
    case 'cpa':
      return 'Counted: what the reader buys earns a commission, under “Orders”.'
    case 'epp':
      return 'Counted: a purchase earns a fixed payment, under “Orders”.'
    default:
      return 'Counted: nobody won it, so the reader went to the link’s own destination.'
  }
}
