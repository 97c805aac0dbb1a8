/** A merchant's month as a record, a CSV file and a page to print. */
import Type, { type Static } from 'typebox'
import type { Form } from '../accounts/operation.ts'
import { Dollars, orNull, Time } from '../platform/http/field-types.ts'
import { formatExact } from '../platform/money/money.ts'
import { csvFileHeaders, csvTableLine } from '../platform/text/csv.ts'
import { html } from '../platform/text/html.ts'
import { endOfMonth } from '../platform/time/calendar.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import type { InvoiceLine, MonthSums } from './invoice-store.ts'
import {
  digitsOf,
  negative,
  PAGE_HEADERS,
  PRINT_STYLE,
  printedDollars,
  printedMonth,
} from './print-page.ts'

export const InvoiceRecord = Type.Object({
  invoice_id: Type.String(),
  merch_id: Type.Integer(),
  month: Type.String({ description: 'YYYY-MM, UTC' }),
  is_complete: Type.Boolean({ description: 'False while the month lasts' }),
  opening_usd: Type.String({ description: 'Owed at its start; minus: in the merchant’s favor' }),
  clicks_usd: Type.String({ description: 'Cost of clicks, US dollars' }),
  orders_usd: Type.String({ description: 'Commissions, with their later changes, US dollars' }),
  returned_usd: Type.String({ description: 'Returned goods and reversed clicks, US dollars' }),
  cost_usd: Type.String({ description: 'Clicks and orders less what was returned, US dollars' }),
  paid_usd: Type.String({ description: 'Payments less reversed ones, US dollars' }),
  closing_usd: Type.String({
    description: 'Owed at its end: `opening_usd` + `cost_usd` − `paid_usd`, the ledger’s balance',
  }),
  datetime_created: Time,
  datetime_updated: Time,
})

const Line = Type.Object({
  pub_id: Type.Integer(),
  publisher_name: Type.String(),
  campaign_id: orNull(Type.Integer(), 'Null: of no campaign, or of an order that moved'),
  clicks: Type.Integer({ description: 'Paid clicks, those reversed later included' }),
  clicks_usd: Dollars,
  orders: Type.Integer({ description: 'Orders that cost a commission' }),
  orders_usd: Dollars,
  returned_usd: Dollars,
  cost_usd: Dollars,
})

export const InvoiceDetail = Type.Object({
  ...InvoiceRecord.properties,
  merchant: Type.String(),
  due_usd: Type.String({
    description: 'Due at its end and not paid by then, US dollars',
  }),
  credit_usd: Type.String({ description: 'Paid in advance at its end, US dollars' }),
  not_due_usd: Type.String({
    description: 'Not due at its end: orders until they lock, the last day’s clicks',
  }),
  lines: Type.Array(Line, { description: 'By publisher and campaign; they add up to the sums' }),
})
export type InvoiceDetail = Static<typeof InvoiceDetail>

interface Month {
  readonly merchId: number
  readonly now: Date
}

export function toInvoice(sums: MonthSums, { merchId, now }: Month): Static<typeof InvoiceRecord> {
  const { clicks_micros, orders_micros, returned_micros } = sums
  const end = endOfMonth(sums.month)
  return {
    invoice_id: `I${merchId}-${sums.month.replace('-', '')}`,
    merch_id: merchId,
    month: sums.month,
    is_complete: end <= now,
    opening_usd: formatExact(sums.opening_micros),
    clicks_usd: formatExact(clicks_micros),
    orders_usd: formatExact(orders_micros),
    returned_usd: formatExact(returned_micros),
    cost_usd: formatExact(BigInt(clicks_micros) + BigInt(orders_micros) - BigInt(returned_micros)),
    paid_usd: formatExact(sums.paid_micros),
    closing_usd: formatExact(sums.closing_micros),
    datetime_created: `${sums.month}-01T00:00:00Z`,
    datetime_updated: formatTimestamp(end <= now ? end : now),
  }
}

export function toLine(line: InvoiceLine): Static<typeof Line> {
  const { pub_id, publisher_name, campaign_id, clicks_micros, orders_micros } = line
  const cost = BigInt(clicks_micros) + BigInt(orders_micros) - BigInt(line.returned_micros)
  return {
    pub_id,
    publisher_name,
    campaign_id,
    clicks: Number(line.clicks),
    clicks_usd: formatExact(clicks_micros),
    orders: Number(line.orders),
    orders_usd: formatExact(orders_micros),
    returned_usd: formatExact(line.returned_micros),
    cost_usd: formatExact(cost),
  }
}

const SUMS = [
  ['opening', 'Carried over'],
  ['cost', 'Cost of this month'],
  ['paid', 'Paid this month'],
  ['closing', 'Owed at the end of the month'],
  ['credit', 'Paid in advance'],
  ['not_due', 'Not due yet'],
  ['due', 'Due'],
] as const

/** One row per publisher and campaign, then the sums. */
export function invoiceCsv(invoice: InvoiceDetail): Form {
  const { invoice_id, lines } = invoice
  const text = [
    csvTableLine([
      ...['invoice_id', 'item', 'pub_id', 'publisher', 'campaign_id', 'clicks', 'clicks_usd'],
      ...['orders', 'orders_usd', 'returned_usd', 'amount_usd'],
    ]),
    ...lines.map((line) =>
      csvTableLine([
        ...[invoice_id, 'line', line.pub_id, { text: line.publisher_name }, line.campaign_id],
        ...[line.clicks, line.clicks_usd, line.orders, line.orders_usd, line.returned_usd],
        line.cost_usd,
      ]),
    ),
    ...SUMS.map(([item]) =>
      csvTableLine([invoice_id, item, ...Array(8).fill(null), invoice[`${item}_usd`]]),
    ),
  ].join('')
  return { headers: csvFileHeaders(`souk_invoice_${invoice_id}.csv`), text }
}

/** A page to print, without scripts and without external resources. */
export function invoicePage(invoice: InvoiceDetail): Form {
  const { invoice_id, merchant, month, lines, is_complete: isComplete } = invoice
  const digits = digitsOf([
    ...lines.flatMap((line) => [line.clicks_usd, line.orders_usd, line.returned_usd]),
    ...SUMS.map(([item]) => invoice[`${item}_usd`]),
  ])
  const amount = (exact: string) => printedDollars(exact, digits)
  const rows = lines.map(
    (line) =>
      html`<tr><th scope="row"><bdi>${line.publisher_name}</bdi></th><td>${line.campaign_id ?? '–'}</td>
<td>${amount(line.clicks_usd)}</td><td>${amount(line.orders_usd)}</td>
<td>${amount(negative(line.returned_usd))}</td><td>${amount(line.cost_usd)}</td></tr>\n`,
  )
  const sums = SUMS.map(([item, name]) => {
    const exact = invoice[`${item}_usd`]
    return html`<tr><th scope="row">${name}</th><td>${amount(item === 'paid' ? negative(exact) : exact)}</td></tr>\n`
  })
  const note = isComplete ? '' : ' · the month is not over'
  const text = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Invoice ${invoice_id}</title>
<style>${PRINT_STYLE}</style>
<main>
<h1>Invoice ${invoice_id}</h1>
<p><bdi>${merchant}</bdi> · ${printedMonth.format(new Date(`${month}-01`))}${note}<br>
All amounts in US dollars. Clicks are due on the day after, commissions when their order locks.</p>
<table>
<thead><tr><th scope="col">Publisher</th><th scope="col">Campaign</th><th scope="col">Clicks</th>
<th scope="col">Orders</th><th scope="col">Returned</th><th scope="col">Cost</th></tr></thead>
<tbody>${rows}</tbody>
</table>
<table class="sums">
<tbody>${sums}</tbody>
</table>
</main>
</html>
`.html
  return { headers: PAGE_HEADERS, text }
}
