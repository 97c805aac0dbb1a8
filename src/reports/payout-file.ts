/**
 * The payout file of a month: the operator's payments and their recipients. Souk itself moves no
 * money.
 */
import { listPublishers } from '../accounts/publisher-store.ts'
import { statementId } from '../ledger/statement.ts'
import { listStatementsOfMonth } from '../ledger/statement-store.ts'
import { formatCents } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { csvLine } from '../platform/text/csv.ts'

const COLUMNS = ['statement_id', 'publisher_slug', 'publisher_name', 'month', 'amount_usd'] as const

export interface PayoutFile {
  readonly text: string
  readonly rows: number
  readonly totalMicros: bigint
}

/** One row per publisher whose statement of the month has a payout. */
export async function payoutFile(db: Db, month: string): Promise<PayoutFile> {
  const publishers = new Map(
    (await listPublishers(db, { uid: null })).map((publisher) => [publisher.pub_id, publisher]),
  )
  const paying = (await listStatementsOfMonth(db, month)).filter(
    ({ payoutMicros }) => payoutMicros > 0,
  )
  const lines = paying.map(({ pubId, payoutMicros }) => {
    const publisher = publishers.get(pubId)
    return csvLine([
      statementId(pubId, month),
      { text: publisher?.slug ?? null },
      { text: publisher?.name ?? null },
      month,
      formatCents(payoutMicros),
    ])
  })
  return {
    text: [csvLine(COLUMNS), ...lines].join(''),
    rows: lines.length,
    totalMicros: paying.reduce((sum, { payoutMicros }) => sum + BigInt(payoutMicros), 0n),
  }
}
