/** The clock of the database, which all nodes and commands share. */
import type { Db } from './postgres.ts'
import { sql } from './sql.ts'

/** By how much a clock that says `nowMs` is ahead of the database's; 0 when it is not. */
export async function msAhead(db: Db, nowMs: number): Promise<number> {
  const row = await db.row<{ now: Date }>(sql`select now() as now`)
  return Math.max(0, nowMs - (row?.now.getTime() ?? nowMs))
}
