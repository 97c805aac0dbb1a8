/** How much of a table a statement looks at. */
import type { Db } from '../src/platform/postgres.ts'
import { sql } from '../src/platform/sql.ts'

/**
 * Rows that this connection has read of the tables and not yet reported: within one transaction
 * only the difference of two calls says something, for what was read earlier may still be in it.
 */
export async function rowsRead(tx: Db, tables: readonly string[]): Promise<number> {
  const row = await tx.row<{ rows: number }>(sql`
    select sum(seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
    where relname = any(${tables}::text[])`)
  return row?.rows ?? 0
}
