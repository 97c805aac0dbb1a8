/** A month's statement as a page to print, without scripts and without external resources. */
import { MINIMUM_PAYOUT_MICROS } from '../ledger/statement.ts'
import { formatExact } from '../platform/money/money.ts'
import { type Html, html } from '../platform/text/html.ts'
import { digitsOf, negative, PRINT_STYLE, printedDollars, printedMonth } from './print-page.ts'
import type { StatementDetail } from './schema.ts'

const MINIMUM_PAYOUT = formatExact(MINIMUM_PAYOUT_MICROS)
const MOMENT = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
})

/** The page of a statement of this publisher. */
export function statementPage(statement: StatementDetail, publisher: string): string {
  const digits = digitsFor(statement)
  const amount = (exact: string) => printedDollars(exact, digits)
  const rows = statement.merchants.map(
    ({ merchant, released_usd, taken_back_usd }) =>
      html`<tr><th scope="row"><bdi>${merchant}</bdi></th><td>${amount(released_usd)}</td>
<td>${amount(negative(taken_back_usd))}</td></tr>`,
  )
  // Each line adds to those above it, so a reader can check the sum by hand.
  const sums = [
    ['Carried over', statement.opening_usd],
    ['Released this month', statement.released_usd],
    ['Reversed this month', negative(statement.taken_back_usd)],
    ['Paid out', negative(statement.payout_usd)],
    ['Carried into the next month', statement.closing_usd],
  ].map(
    ([name = '', exact = '']) =>
      html`<tr><th scope="row">${name}</th><td>${amount(exact)}</td></tr>\n`,
  )
  const month = printedMonth.format(new Date(statement.month))
  const issued = MOMENT.format(new Date(statement.issued_at))
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Statement ${statement.statement_id}</title>
<style>${PRINT_STYLE}</style>
<main>
<h1>Statement ${statement.statement_id}</h1>
<p><bdi>${publisher}</bdi> · ${month} · issued ${issued} UTC<br>
All amounts in US dollars. Earnings are released when the merchant has paid for them. What came to
nothing after all is taken back; what was not paid by then stands under both headings. A balance of
$${MINIMUM_PAYOUT} or more is paid out in whole cents; a lower one, and the rest of a cent, is
carried on. The payments report lists each amount with the number of its statement.</p>
${rows.length === 0 ? NOTHING : merchantTable(rows)}
<table class="sums">
<tbody>${sums}</tbody>
</table>
</main>
</html>
`.html
}

const NOTHING = html`<p>No merchant’s payment released or took back anything this month.</p>`

function merchantTable(rows: readonly Html[]): Html {
  return html`<table>
<thead><tr><th scope="col">Merchant</th><th scope="col">Released</th>
<th scope="col">Taken back</th></tr></thead>
<tbody>${rows}</tbody>
</table>`
}

/** Of all amounts of the page. */
function digitsFor({ merchants, ...sums }: StatementDetail): number {
  const { opening_usd, released_usd, taken_back_usd, payout_usd, closing_usd } = sums
  return digitsOf([
    ...[opening_usd, released_usd, taken_back_usd, payout_usd, closing_usd],
    ...merchants.flatMap((row) => [row.released_usd, row.taken_back_usd]),
  ])
}
