/** Stored receipts: read one to explain it, read a day to run it again, delete unclicked ones. */
import { MONEY_LANE } from '../events/event.ts'
import { oldestUnfolded } from '../events/unfolded-days-store.ts'
import { deleteWhere } from '../platform/postgres/delete-in-batches.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { RESULT_AGE_MAX_MS } from './seal.ts'

export interface ReceiptRow {
  readonly result_number: Buffer
  readonly packed: Buffer
}

/** About 2 MB per batch. */
const BATCH_ROWS = 1_000

export async function findReceipt(db: Db, resultNumber: Buffer): Promise<Buffer | null> {
  const row = await db.row<{ packed: Buffer }>(
    sql`select packed from receipt where result_number = ${resultNumber}`,
  )
  return row?.packed ?? null
}

/** All receipts of a UTC day, in batches, oldest first. */
export function receiptsOfDay(db: Db, day: string): AsyncGenerator<readonly ReceiptRow[]> {
  return batchesOf(db, day, { columns: sql`packed`, isWanted: sql`true` })
}

/** A receipt with its result's valid clicks; reversed ones do not count. */
export interface ClickedReceipt {
  readonly packed: Buffer
  readonly auction_id: string
  readonly clicks: number
}

/** A publisher's UTC day. */
export interface PublisherDay {
  readonly pubId: number
  readonly day: string
}

export async function countReceipts(db: Db, { pubId, day }: PublisherDay): Promise<number> {
  const row = await db.row<{ receipts: number }>(sql`
    select count(*)::int as receipts from receipt
    where pub_id = ${pubId} and at >= ${`${day}T00:00:00Z`}::timestamptz
      and at < ${day}::date + interval '1 day'`)
  return row?.receipts ?? 0
}

/** Values of the first two bytes of a result number, which are random. */
const SAMPLE_SLOTS = 65_536

/** A publisher's receipts of a day, oldest first, in batches: all, or an even share of them. */
export function receiptsOfPublisher(
  db: Db,
  { pubId, day, share = 1 }: PublisherDay & { readonly share?: number },
): AsyncGenerator<readonly ClickedReceipt[]> {
  return batchesOf(db, day, {
    columns: sql`packed, auction_id, (
      select count(*)::int from click
      where click.result_number = receipt.result_number and reason = 0 and reversed_at is null
    ) as clicks`,
    isWanted: sql`pub_id = ${pubId}
      and get_byte(result_number, 0) * 256 + get_byte(result_number, 1)
        < ${Math.ceil(share * SAMPLE_SLOTS)}`,
  })
}

async function* batchesOf<Row extends object>(
  db: Db,
  day: string,
  { columns, isWanted }: { readonly columns: Sql; readonly isWanted: Sql },
): AsyncGenerator<readonly Row[]> {
  let after = { at_text: `${day}T00:00:00Z`, result_number: Buffer.alloc(0) }
  for (;;) {
    // The time as text: a Date has milliseconds, the column microseconds.
    const rows = await db.rows<Row & typeof after>(sql`
      select ${columns}, result_number, at::text as at_text from receipt
      where ${isWanted}
        and (at, result_number) > (${after.at_text}::timestamptz, ${after.result_number}::bytea)
        and at < ${day}::date + interval '1 day'
      order by at, result_number limit ${BATCH_ROWS}`)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    after = last
  }
}

/**
 * Deletes receipts from before `wanted` without a click, in batches; returns how many. Receipts
 * whose clicks may still be unfolded stay: after days without a worker all would be deleted.
 * Receipts kept for a click are not examined again, because soon there are far more of them than
 * new ones.
 */
export async function deleteUnclickedReceipts(db: Db, wanted: Date): Promise<number> {
  const waiting = await oldestUnfolded(db, MONEY_LANE)
  const before =
    waiting === null
      ? wanted
      : new Date(Math.min(wanted.getTime(), waiting.getTime() - RESULT_AGE_MAX_MS))
  const row = await db.row<{ done_until: Date }>(sql`
    select done_until from upkeep where task = ${FORGETTING}`)
  const after = row === null ? sql`true` : sql`at >= ${row.done_until}`
  const isUnclicked = sql`
    at < ${before} and ${after}
    and not exists (select from click where click.result_number = receipt.result_number)`
  const deleted = await deleteWhere(db, 'receipt', isUnclicked)
  await db.run(sql`
    insert into upkeep (task, done_until) values (${FORGETTING}, ${before})
    on conflict (task) do update set done_until = excluded.done_until`)
  return deleted
}

const FORGETTING = 'forget_receipts'
