/** Statements as records and as a table. `statement-page.ts` prints them. */
import { listMerchantNames } from '../catalog/merchant-store.ts'
import { openReleases } from '../ledger/publisher-releases.ts'
import type { Release } from '../ledger/release.ts'
import { monthOf, statementId } from '../ledger/statement.ts'
import { type IssuedStatement, listStatements } from '../ledger/statement-store.ts'
import { formatExact, sumExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { csvLine } from '../platform/text/csv.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import type { StatementDetail, StatementRecord } from './schema.ts'

export function toStatementRecord(statement: IssuedStatement): StatementRecord {
  return {
    statement_id: statementId(statement.pubId, statement.month),
    pub_id: statement.pubId,
    month: statement.month,
    opening_usd: formatExact(statement.openingMicros),
    released_usd: formatExact(statement.releasedMicros),
    taken_back_usd: formatExact(statement.reversedMicros),
    payout_usd: formatExact(statement.payoutMicros),
    closing_usd: formatExact(statement.closingMicros),
    issued_at: formatTimestamp(statement.issuedAt),
  }
}

/** A month's statement with its merchants; null if none was issued. */
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
    ...toDollars(movedOf(rows)),
  }))
  // Movements after a month's statement are on the next one. A line takes them out of this one, so
  // that each column adds up to the statement's total.
  const moved = movedOf(ofMonth)
  const late = {
    released: BigInt(issued.releasedMicros) - moved.released,
    reversed: BigInt(issued.reversedMicros) - moved.reversed,
  }
  if (late.released !== 0n || late.reversed !== 0n) {
    merchants.push({ merch_id: 0, merchant: 'Reported after its statement', ...toDollars(late) })
  }
  return { ...toStatementRecord(issued), merchants }
}

interface Moved {
  readonly released: bigint
  readonly reversed: bigint
}

function movedOf(releases: readonly Pick<Release, 'earningsMicros'>[]): Moved {
  const amounts = releases.map(({ earningsMicros }) => earningsMicros)
  return {
    released: sumExact(amounts.filter((amount) => amount > 0)),
    reversed: -sumExact(amounts.filter((amount) => amount < 0)),
  }
}

function toDollars({ released, reversed }: Moved) {
  return { released_usd: formatExact(released), taken_back_usd: formatExact(reversed) }
}

/** One row per merchant, then the sums from the opening balance to the payout. */
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
