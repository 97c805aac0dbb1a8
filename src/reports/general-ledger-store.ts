/**
 * The whole ledger, line by line, for the operator's accounting: each entry's lines sum to zero,
 * and so do the balances of its four accounts.
 */
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { nextPlace, type ReportPage, readPlace, reportTime } from './report.ts'

/** Minus is owed, plus is received, by the holder of the account. */
export const GENERAL_LEDGER_COLUMNS = [
  ...['entry', 'kind', 'day', 'at', 'corrects'],
  ...['account', 'merch_id', 'pub_id', 'article_id', 'amount_usd'],
] as const

/** `lastEntry` excludes entries booked meanwhile from both lines and balances. */
interface LedgerDays {
  readonly dayFrom: string
  readonly dayTo: string
  readonly lastEntry: string
}

/** The number of the latest entry; 0 if there is none. */
export async function findLastEntry(db: Db): Promise<string> {
  const row = await db.row<{ last: string | null }>(sql`
    select max(transaction_id) as last from ledger_transaction`)
  return row?.last ?? '0'
}

interface LedgerRow {
  readonly transaction_id: string
  readonly line: number
  // Null, like the next two, if the line's entry is missing (`souk reconcile` finds it).
  readonly entry: string | null
  readonly kind: string | null
  readonly day: string
  readonly at: Date | null
  readonly corrects: string | null
  readonly account: string
  readonly merch_id: number | null
  readonly pub_id: number | null
  readonly article_id: number | null
  readonly amount_micros: string
}

/** A page of the ledger, in the order of writing. */
export async function listGeneralLedger(
  db: Db,
  request: LedgerDays & { readonly cursor: string | null; readonly limitRows: number },
): Promise<ReportPage> {
  const { dayFrom, dayTo, lastEntry, limitRows } = request
  const { eventId: entryId, line: lastLine } = readPlace(request.cursor)
  const rows = await db.rows<LedgerRow>(sql`
    with page as materialized (
      select * from ledger_line
      where (transaction_id, line) > (${entryId}::bigint, ${lastLine}::smallint)
        and transaction_id <= ${lastEntry} and day between ${dayFrom} and ${dayTo}
      order by transaction_id, line limit ${limitRows}
    )
    select transaction_id, line, idempotency_key as entry, kind, page.day, at, corrects, account,
      nullif(merch_id, 0) as merch_id, nullif(pub_id, 0) as pub_id,
      nullif(article_id, 0) as article_id, amount_micros
    from page left join ledger_transaction using (transaction_id)
    order by transaction_id, line`)
  return {
    rows: rows.map(({ transaction_id: _, line: __, entry, corrects, amount_micros, ...row }) => ({
      ...row,
      entry: { text: entry },
      corrects: { text: corrects },
      at: row.at === null ? null : reportTime(row.at),
      amount_usd: formatExact(amount_micros),
    })),
    next: nextPlace(rows, limitRows, (row) => [row.day, row.transaction_id, row.line]),
  }
}

/** Each account's balance before the days, the change during them, and the balance after. */
export async function sumAccounts(db: Db, { dayFrom, dayTo, lastEntry }: LedgerDays) {
  const rows = await db.rows<{ account: string; opening: string; closing: string }>(sql`
    select account,
      coalesce(sum(amount_micros) filter (where day < ${dayFrom}), 0)::text as opening,
      coalesce(sum(amount_micros), 0)::text as closing
    from unnest(array['merchant', 'publisher', 'platform', 'bank']) with ordinality
      as held (account, place)
    left join (
      select account, day, amount_micros from ledger_line
      where transaction_id <= ${lastEntry} and day <= ${dayTo}
    ) as input using (account)
    group by account, place order by place`)
  return rows.map(({ account, opening, closing }) => ({
    account,
    opening_usd: formatExact(opening),
    change_usd: formatExact(BigInt(closing) - BigInt(opening)),
    closing_usd: formatExact(closing),
  }))
}
