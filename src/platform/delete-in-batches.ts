/** Deletes however much there is to forget, in transactions that stay short. */
import type { Db } from './postgres.ts'
import { identifier, type Sql, sql } from './sql.ts'

/** Some tenths of a second each: nobody who waits for a row waits long. */
const BATCH_ROWS = 10_000

/**
 * Repeats a delete of at most `limit` rows until it finds fewer; how many were found. Found, not
 * deleted: of two that delete the same, the second one finds what the first has just taken, and is
 * not done for that; the first may yet be killed.
 */
export async function deleteInBatches(remove: (limit: number) => Promise<number>): Promise<number> {
  let found = 0
  for (;;) {
    const rows = await remove(BATCH_ROWS)
    found += rows
    if (rows < BATCH_ROWS) return found
  }
}

/** Deletes a table's rows of which the condition holds, whatever their order; how many it found. */
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

/** What a statement of one row says that it found. */
export async function countOf(db: Db, statement: Sql): Promise<number> {
  const row = await db.row<{ found: number }>(statement)
  return row?.found ?? 0
}
