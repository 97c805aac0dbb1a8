/** Deletes any number of rows in short transactions. */
import type { Db } from './postgres.ts'
import { identifier, type Sql, sql } from './sql.ts'

/** A few tenths of a second per batch, so nobody waits long for a row. */
const BATCH_ROWS = 10_000

/**
 * Repeats a delete of at most `limit` rows until it finds fewer. Returns how many rows were found.
 * Found, not deleted: of two concurrent deletions, the second finds rows that the first has just
 * deleted, and the first may still be killed.
 */
export async function deleteInBatches(remove: (limit: number) => Promise<number>): Promise<number> {
  let found = 0
  for (;;) {
    const rows = await remove(BATCH_ROWS)
    found += rows
    if (rows < BATCH_ROWS) return found
  }
}

/** Deletes the rows that match a condition, in any order; returns how many were found. */
export function deleteWhere(db: Db, table: string, condition: Sql): Promise<number> {
  const name = identifier(table)
  return deleteInBatches((limit) =>
    countOf(
      db,
      sql`
      with found as materialized (
        select ctid from ${name} where ${condition} limit ${limit}
      ), gone as (
        delete from ${name} where ctid = any(array(select ctid from found))
      )
      select count(*)::int as found from found`,
    ),
  )
}

/** The count that a single-row statement returns. */
export async function countOf(db: Db, statement: Sql): Promise<number> {
  const row = await db.row<{ found: number }>(statement)
  return row?.found ?? 0
}
