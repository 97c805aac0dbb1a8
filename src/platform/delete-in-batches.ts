/** Deletes however much there is to forget, in transactions that stay short. */
import type { Db } from './postgres.ts'
import { identifier, type Sql, sql } from './sql.ts'

/** Some tenths of a second each: nobody who waits for a row waits long. */
const BATCH_ROWS = 10_000

/** Repeats a delete of at most `limit` rows until it finds fewer; how many rows went. */
export async function deleteInBatches(remove: (limit: number) => Promise<number>): Promise<number> {
  let deleted = 0
  for (;;) {
    const rows = await remove(BATCH_ROWS)
    deleted += rows
    if (rows < BATCH_ROWS) return deleted
  }
}

/** Deletes a table's rows of which the condition holds, whatever their order; how many. */
export function deleteWhere(db: Db, table: string, condition: Sql): Promise<number> {
  const name = identifier(table)
  return deleteInBatches((limit) =>
    db.run(sql`
      delete from ${name} where ctid = any(array(
        select ctid from ${name} where ${condition} limit ${limit}))`),
  )
}
