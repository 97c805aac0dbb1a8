/** Kept receipts, read back: one to be explained, a day's to be run again. */
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

export interface ReceiptRow {
  readonly result_number: Buffer
  readonly at: Date
  readonly packed: Buffer
}

/** Some 2 MB at a time. */
const BATCH_ROWS = 1_000

export async function findReceipt(db: Db, resultNumber: Buffer): Promise<Buffer | null> {
  const row = await db.row<{ packed: Buffer }>(
    sql`select packed from receipt where result_number = ${resultNumber}`,
  )
  return row?.packed ?? null
}

/** All receipts of a UTC day, in batches, oldest first. */
export async function* receiptsOfDay(db: Db, day: string): AsyncGenerator<readonly ReceiptRow[]> {
  let after: { at: string; result_number: Buffer } = {
    at: `${day}T00:00:00Z`,
    result_number: Buffer.alloc(0),
  }
  for (;;) {
    // The time as text: a Date holds milliseconds, and the column microseconds.
    const rows = await db.rows<ReceiptRow & { at_text: string }>(sql`
      select result_number, at, packed, at::text as at_text from receipt
      where (at, result_number) > (${after.at}::timestamptz, ${after.result_number}::bytea)
        and at < ${day}::date + interval '1 day'
      order by at, result_number limit ${BATCH_ROWS}
    `)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    after = { at: last.at_text, result_number: last.result_number }
  }
}

/** A receipt with the valid clicks that its result had. */
export interface ClickedReceipt {
  readonly packed: Buffer
  readonly clicks: number
}

/** A publisher's receipts of a UTC day, oldest first, in batches. */
export async function* receiptsOfPublisher(
  db: Db,
  { pubId, day }: { pubId: number; day: string },
): AsyncGenerator<readonly ClickedReceipt[]> {
  let after: { at: string; result_number: Buffer } = {
    at: `${day}T00:00:00Z`,
    result_number: Buffer.alloc(0),
  }
  for (;;) {
    const rows = await db.rows<
      ClickedReceipt & { readonly at_text: string; readonly result_number: Buffer }
    >(sql`
      select packed, result_number, at::text as at_text,
        (select count(*)::int from click
          where click.result_number = receipt.result_number and reason = 0) as clicks
      from receipt
      where pub_id = ${pubId}
        and (at, result_number) > (${after.at}::timestamptz, ${after.result_number}::bytea)
        and at < ${day}::date + interval '1 day'
      order by at, result_number limit ${BATCH_ROWS}
    `)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    after = { at: last.at_text, result_number: last.result_number }
  }
}
