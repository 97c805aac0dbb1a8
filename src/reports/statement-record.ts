/** Statements as they are told: as records, as a table, and as a page to print. */
import { findPublisherReleases } from '../ledger/publisher-releases.ts'
import { monthOf, statementId } from '../ledger/statement.ts'
import { type IssuedStatement, listStatements } from '../ledger/statement-store.ts'
import { csvLine } from '../platform/csv.ts'
import { formatCents, formatExact } from '../platform/money.ts'
import type { Db } from '../platform/postgres.ts'
import { formatTimestamp } from '../platform/timestamp.ts'
import { listMerchantNames } from './names-store.ts'
import type { StatementDetail, StatementRecord } from './schema.ts'

export function toStatementRecord(statement: IssuedStatement): StatementRecord {
  return {
    statement_id: statementId(statement.pubId, statement.month),
    pub_id: statement.pubId,
    month: statement.month,
    opening_usd: formatExact(statement.openingMicros),
    released_usd: formatExact(statement.releasedMicros),
    taken_back_usd: formatExact(statement.takenBackMicros),
    payout_usd: formatExact(statement.payoutMicros),
    closing_usd: formatExact(statement.closingMicros),
    issued_at: formatTimestamp(statement.issuedAt),
  }
}

/** A month's statement with its merchants; null when none was issued. */
export async function findStatementDetail(
  db: Db,
  { pubId, month }: { readonly pubId: number; readonly month: string },
): Promise<StatementDetail | null> {
  const issued = (await listStatements(db, pubId)).find((statement) => statement.month === month)
  if (issued === undefined) return null
  const { releases } = await findPublisherReleases(db, { pubId, until: issued.issuedAt })
  const names = await listMerchantNames(db)
  const ofMonth = releases.filter(({ atMs }) => monthOf(atMs) === month)
  return {
    ...toStatementRecord(issued),
    merchants: [...Map.groupBy(ofMonth, ({ merchId }) => merchId)].map(([merchId, rows]) => {
      const amounts = rows.map(({ earningsMicros }) => earningsMicros as number)
      return {
        merch_id: merchId,
        merchant: names.get(merchId) ?? '',
        released_usd: formatExact(sum(amounts.filter((amount) => amount > 0))),
        taken_back_usd: formatExact(-sum(amounts.filter((amount) => amount < 0))),
      }
    }),
  }
}

function sum(amounts: readonly number[]): bigint {
  return amounts.reduce((total, amount) => total + BigInt(amount), 0n)
}

/** One row per merchant, then the sums that lead from the opening to the payout. */
export function statementCsv(statement: StatementDetail): string {
  return [
    csvLine(['statement_id', 'item', 'merchant', 'released_usd', 'taken_back_usd', 'amount_usd']),
    ...statement.merchants.map(({ merchant, released_usd, taken_back_usd }) =>
      csvLine([
        statement.statement_id,
        'merchant',
        { text: merchant },
        released_usd,
        taken_back_usd,
        null,
      ]),
    ),
    ...(['opening', 'released', 'taken_back', 'payout', 'closing'] as const).map((item) =>
      csvLine([statement.statement_id, item, null, null, null, statement[`${item}_usd`]]),
    ),
  ].join('')
}

/** A page that prints on one sheet, without scripts, styles or pictures from anywhere. */
export function statementPage(statement: StatementDetail, publisher: string): string {
  const rows = statement.merchants.map(
    ({ merchant, released_usd, taken_back_usd }) =>
      `<tr><td>${html(merchant)}</td><td>${cents(released_usd)}</td>` +
      `<td>${cents(taken_back_usd)}</td></tr>`,
  )
  const sums = [
    ['Carried over', statement.opening_usd],
    ['Released this month', statement.released_usd],
    ['Taken back this month', `-${statement.taken_back_usd}`],
    ['Paid out', statement.payout_usd],
    ['Carried into the next month', statement.closing_usd],
  ].map(([name = '', amount = '']) => `<tr><td>${name}</td><td>${cents(amount)}</td></tr>`)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Statement ${html(statement.statement_id)}</title>
<style>
  body { font: 14px/1.5 system-ui, sans-serif; max-width: 42em; margin: 3em auto; }
  table { border-collapse: collapse; width: 100%; margin: 1.5em 0; }
  th, td { padding: .3em .6em; border-bottom: 1px solid #ccc; text-align: right; }
  th:first-child, td:first-child { text-align: left; }
  @page { margin: 2cm; }
</style>
<h1>Statement ${html(statement.statement_id)}</h1>
<p>${html(publisher)} · ${html(statement.month)} · issued ${html(statement.issued_at)}<br>
All amounts in US dollars. Earnings are released when the merchant has paid for them.</p>
<table>
<thead><tr><th>Merchant</th><th>Released</th><th>Taken back</th></tr></thead>
<tbody>${rows.join('\n')}</tbody>
</table>
<table>
<tbody>${sums.join('\n')}</tbody>
</table>
</html>
`
}

const MICROS_DECIMALS = 6

/** Exact dollars as cents, for people. */
function cents(dollars: string): string {
  const [whole = '0', rest = ''] = dollars.replace('--', '').split('.')
  return formatCents(BigInt(`${whole}${rest.padEnd(MICROS_DECIMALS, '0')}`))
}

function html(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
