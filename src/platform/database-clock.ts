/** The clock of the database, which all nodes and commands share. */
import type { Db } from './postgres.ts'
import { sql } from './sql.ts'

/** By how much a clock that says `nowMs` is ahead of the database's; 0 when it is not. */
export async function msAhead(db: Db, nowMs: number): Promise<number> {
  const row = await db.row<{ now: Date }>(sql`select now() as now`)
  return Math.max(0, nowMs - (row?.now.getTime() ?? nowMs))
}

/**
 * By how much a clock is ahead of the database's, or (below 0) behind it; 0 where the way of the
 * question and its answer may be the whole difference.
 */
export async function msApart(db: Db, now: () => number): Promise<number> {
  const askedMs = now()
  const row = await db.row<{ at: Date }>(sql`select clock_timestamp() as at`)
  const answeredMs = now()
  const atMs = row?.at.getTime() ?? answeredMs
  return Math.min(answeredMs - atMs, 0) + Math.max(askedMs - atMs, 0)
}
