/**
 * A merchant's account, entry by entry: the cost of each click and order, reversals, and payments.
 * The rows are the ledger's own lines, so their sum is the merchant's balance.
 */

import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { CsvCell } from '../platform/text/csv.ts'
import { formatTimestampOrNull } from '../platform/time/timestamp.ts'
import type { DayRange } from '../stats/day-range.ts'
import type { AccountEntry, AccountPage } from './merchant-overview-schema.ts'
import { nextPlace, type ReportPage, readPlace, reportTime } from './report.ts'

/** Minus is owed. `corrects` names the entry that this one changes; every row has one subject. */
export const LEDGER_COLUMNS = [
  ...['entry', 'kind', 'day', 'at', 'amount_usd', 'corrects', 'pub_id'],
  ...['click_id', 'auction_result_number', 'campaign_id', 'order_id', 'payment_reference'],
] as const

export interface LedgerRequest extends Omit<DayRange, 'pubId'> {
  readonly merchId: number
  readonly cursor: string | null
  readonly limitRows: number
  readonly isNewestFirst?: boolean
}

interface LedgerRow {
  readonly transaction_id: string
  readonly line: number
  readonly day: string
  // Null, like the next two, if the line's entry is missing (`souk reconcile` finds it).
  readonly at: Date | null
  readonly kind: string | null
  readonly idempotency_key: string | null
  readonly corrects: string | null
  readonly pub_id: number
  readonly publisher_name: string | null
  readonly amount_micros: string
  readonly result_number: Buffer | null
  readonly campaign_id: number | null
}

/** A page of the account, for API and files. */
export async function listLedgerRows(db: Db, request: LedgerRequest): Promise<ReportPage> {
  const { rows, next } = await readLedger(db, request)
  return { rows: rows.map(rowOf), next }
}

/** The same for the dashboard. */
export async function readAccountPage(db: Db, request: LedgerRequest): Promise<AccountPage> {
  const { rows, next } = await readLedger(db, request)
  return { entries: rows.map(entryOf), next }
}

/** In the order of days and entries, or in reverse. */
async function readLedger(
  db: Db,
  request: LedgerRequest,
): Promise<{ rows: LedgerRow[]; next: string | null }> {
  const { merchId, dayFrom, dayTo, cursor, limitRows, isNewestFirst = false } = request
  const { day, eventId: id, line } = readPlace(cursor)
  const direction = isNewestFirst ? sql`desc` : sql`asc`
  const order = sql`
    page.day ${direction}, page.transaction_id ${direction}, page.line ${direction}`
  const isBeyond = isNewestFirst ? sql`<` : sql`>`
  const isLeft =
    cursor === null
      ? sql`true`
      : sql`(day, transaction_id, line) ${isBeyond} (${day}::date, ${id}::bigint, ${line}::smallint)`
  const rows = await db.rows<LedgerRow>(sql`
    with page as materialized (
      select transaction_id, line, day, pub_id, amount_micros from ledger_line page
      where account = 'merchant' and merch_id = ${merchId} and day between ${dayFrom} and ${dayTo}
        and ${isLeft}
      order by ${order} limit ${limitRows}
    )
    select transaction_id, line, page.day, at, kind, idempotency_key, corrects, page.pub_id,
      publisher.name as publisher_name, amount_micros, result_number, campaign_id
    from page
    left join ledger_transaction entry using (transaction_id)
    left join publisher on publisher.pub_id = page.pub_id
    left join lateral (
      select result_number, campaign_id from click
      where kind in ('click', 'reversal') and click_id = decode(
        substr(coalesce(corrects, idempotency_key), length('click:') + 1), 'hex')
      limit 1
    ) as clicked on true
    order by ${order}`)
  return {
    rows,
    next: nextPlace(rows, limitRows, (row) => [row.day, row.transaction_id, row.line]),
  }
}

function rowOf(row: LedgerRow): Record<(typeof LEDGER_COLUMNS)[number], CsvCell> {
  const { sort, id } = subjectOf(row.corrects ?? row.idempotency_key ?? '')
  const only = (wanted: string) => (sort === wanted ? { text: id } : null)
  return {
    entry: { text: row.idempotency_key },
    kind: row.kind,
    day: row.day,
    at: row.at === null ? null : reportTime(row.at),
    amount_usd: formatExact(row.amount_micros),
    corrects: { text: row.corrects },
    pub_id: row.pub_id === 0 ? null : row.pub_id,
    click_id: only('click'),
    auction_result_number: row.result_number?.toString('hex') ?? null,
    campaign_id: row.campaign_id,
    order_id: only('order'),
    payment_reference: only('payment'),
  }
}

function entryOf(row: LedgerRow): AccountEntry {
  const { sort, id } = subjectOf(row.corrects ?? row.idempotency_key ?? '')
  return {
    line: `${row.transaction_id}.${row.line}`,
    entry: row.idempotency_key,
    kind: row.kind,
    day: row.day,
    at: formatTimestampOrNull(row.at),
    amount_usd: formatExact(row.amount_micros),
    publisher_name: row.publisher_name,
    auction_result_number: row.result_number?.toString('hex') ?? null,
    campaign_id: row.campaign_id,
    order_id: sort === 'order' ? id : null,
    payment_reference: sort === 'payment' ? id : null,
  }
}

/** An entry's key contains its subject: `click:<id>`, `order:<merchant>:<id>` (entries.ts). */
function subjectOf(key: string): { readonly sort: string; readonly id: string } {
  const match = /^(click):(.*)$|^(order|payment):\d+:(.*)$/s.exec(key)
  return { sort: match?.[1] ?? match?.[3] ?? '', id: match?.[2] ?? match?.[4] ?? '' }
}
