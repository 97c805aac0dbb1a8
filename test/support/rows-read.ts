/** How many rows of a table a statement reads. */
import type { Db } from '../../src/platform/postgres/postgres.ts'
import { sql } from '../../src/platform/postgres/sql.ts'

/**
 * Rows of the tables that this connection has read and not yet reported. Within a transaction only
 * the difference of two calls is meaningful, because earlier reads may still be included.
 */
export async function rowsRead(tx: Db, tables: readonly string[]): Promise<number> {
  const row = await tx.row<{ rows: number }>(sql`
    select sum(seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
    where relname = any(${tables}::text[])`)
  return row?.rows ?? 0
}
