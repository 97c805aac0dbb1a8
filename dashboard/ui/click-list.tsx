/** Clicks, each with what it earned or why nothing, and the way to its receipt. */
import { Link } from '@tanstack/react-router'
import type { ClickPage } from '../api.ts'
import { date, dollars, time } from '../format.ts'
import { PATHS } from '../paths.ts'

type Click = ClickPage['clicks'][number]

export function ClickList(props: { clicks: readonly Click[]; hasReceiptLinks: boolean }) {
  return (
    <ul className="panel divide-y divide-line">
      {props.clicks.map((click) => (
        <ClickLine key={click.click_id} click={click} hasReceiptLink={props.hasReceiptLinks} />
      ))}
    </ul>
  )
}

function ClickLine({ click, hasReceiptLink }: { click: Click; hasReceiptLink: boolean }) {
  const { is_counted: isCounted } = click
  return (
    <li className="grid gap-x-6 gap-y-1 px-4 py-3 sm:grid-cols-[7rem_1fr_auto] sm:items-start">
      <p className="number text-sm text-soft">
        <time dateTime={click.at}>
          {time(click.at)} <span className="block max-sm:inline">{date(click.at)}</span>
        </time>
      </p>
      <div className="min-w-0">
        <p className="truncate font-medium">
          {click.product_name ?? click.merchant_name ?? 'The link’s own destination'}
        </p>
        <p className="truncate text-sm text-soft">
          {[click.product_name === null ? null : click.merchant_name, click.article_name]
            .filter((part) => part !== null)
            .join(' · ')}
        </p>
        <p className={`mt-1 text-sm ${isCounted ? 'text-soft' : 'text-bad'}`}>{verdict(click)}</p>
      </div>
      <div className="flex items-baseline justify-between gap-4 sm:block sm:text-right">
        <p className={`number font-semibold ${isCounted ? '' : 'text-soft'}`}>
          {dollars(click.earnings)}
        </p>
        {hasReceiptLink && (
          <Link
            to={PATHS.receipt}
            params={{ result: click.auction_result_number }}
            className="link text-sm"
          >
            Receipt
          </Link>
        )}
      </div>
    </li>
  )
}

/** Why this click earned what it did. */
function verdict({ is_counted, why, model, price }: Click): string {
  if (!is_counted) return `Not paid. ${why}`
  switch (model) {
    case 'cpc':
      return `Paid: the merchant pays ${dollars(price)} for it.`
    case 'cpa':
      return 'Counted: earns a commission if the reader buys.'
    case 'epp':
      return 'Counted: earns a fixed payment if the reader buys.'
    default:
      return 'Counted: nobody had bid, so the reader went to the link’s own destination.'
  }
}
