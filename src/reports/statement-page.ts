/** A month's statement as a page to print, without scripts and without external resources. */
import { MINIMUM_PAYOUT_MICROS } from '../ledger/statement.ts'
import { formatExact } from '../platform/money/money.ts'
import { type Html, html } from '../platform/text/html.ts'
import type { StatementDetail } from './schema.ts'

const WHOLE = new Intl.NumberFormat('en-US')
const CENTS_DIGITS = 2
const MINIMUM_PAYOUT = formatExact(MINIMUM_PAYOUT_MICROS)
const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const MOMENT = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
})

const STYLE = `
  body { font: 14px/1.5 system-ui, sans-serif; max-width: 42em; margin: 3em auto; padding: 0 1em;
    overflow-wrap: anywhere; }
  table { border-collapse: collapse; width: 100%; margin: 1.5em 0; }
  th, td { padding: .3em .6em; border-bottom: 1px solid #ccc; text-align: right; }
  th:first-child { text-align: left; }
  td, thead th { overflow-wrap: normal; }
  tbody th { font-weight: inherit; }
  td { font-variant-numeric: tabular-nums; }
  .sums { break-inside: avoid; }
  .sums tr:last-child { font-weight: bold; }
  @page { margin: 2cm; }
  @media print { body { margin: 0; padding: 0; max-width: none; } }
`

/** The page of a statement of this publisher. */
export function statementPage(statement: StatementDetail, publisher: string): string {
  const digits = digitsOf(statement)
  const amount = (exact: string) => dollars(exact, digits)
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
  const month = MONTH.format(new Date(statement.month))
  const issued = MOMENT.format(new Date(statement.issued_at))
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Statement ${statement.statement_id}</title>
<style>${STYLE}</style>
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

/** Enough decimals to show every amount exactly; rounded to cents, lines would not add up. */
function digitsOf({ merchants, ...sums }: StatementDetail): number {
  const { opening_usd, released_usd, taken_back_usd, payout_usd, closing_usd } = sums
  const amounts = [
    ...[opening_usd, released_usd, taken_back_usd, payout_usd, closing_usd],
    ...merchants.flatMap((row) => [row.released_usd, row.taken_back_usd]),
  ]
  return Math.max(CENTS_DIGITS, ...amounts.map((exact) => exact.split('.')[1]?.length ?? 0))
}

/** `-1234.5` → `−1,234.50`. */
function dollars(exact: string, digits: number): string {
  const [whole = '0', fraction = ''] = exact.replace('-', '').split('.')
  const sign = exact.startsWith('-') ? '−' : ''
  return `${sign}${WHOLE.format(BigInt(whole))}.${fraction.padEnd(digits, '0')}`
}

function negative(exact: string): string {
  if (exact.startsWith('-')) return exact.slice(1)
  return Number(exact) === 0 ? exact : `-${exact}`
}
