/** Statements as they are told: as records and as a table. `statement-page.ts` prints them. */
import { listMerchantNames } from '../catalog/merchant-store.ts'
import { openReleases } from '../ledger/publisher-releases.ts'
import { monthOf, statementId } from '../ledger/statement.ts'
import { type IssuedStatement, listStatements } from '../ledger/statement-store.ts'
import { csvLine } from '../platform/csv.ts'
import { formatExact, sumExact } from '../platform/money.ts'
import type { Db } from '../platform/postgres.ts'
import { formatTimestamp } from '../platform/timestamp.ts'
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
  const releases = await openReleases(db, { pubId, until: issued.issuedAt }).all()
  const names = await listMerchantNames(db)
  const ofMonth = releases.filter(({ atMs }) => monthOf(atMs) === month)
  const merchants = [...Map.groupBy(ofMonth, ({ merchId }) => merchId)].map(([merchId, rows]) => ({
    merch_id: merchId,
    merchant: names.get(merchId) ?? '',
    ...movedOf(rows.map(({ earningsMicros }) => earningsMicros)),
  }))
  // What is told of a month after its statement is on the next one: each adds up to what it says.
  const lateMicros =
    BigInt(issued.releasedMicros - issued.takenBackMicros) -
    sumExact(ofMonth.map(({ earningsMicros }) => earningsMicros))
  if (lateMicros === 0n) return { ...toStatementRecord(issued), merchants }
  const late = { merch_id: 0, merchant: 'Told after its statement', ...movedOf([lateMicros]) }
  return { ...toStatementRecord(issued), merchants: [...merchants, late] }
}

function movedOf(amounts: readonly (number | bigint)[]) {
  return {
    released_usd: formatExact(sumExact(amounts.filter((amount) => amount > 0))),
    taken_back_usd: formatExact(-sumExact(amounts.filter((amount) => amount < 0))),
  }
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
