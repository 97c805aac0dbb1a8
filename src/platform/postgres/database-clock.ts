/** The database's clock, which all nodes and commands share. */
import type { Db } from './postgres.ts'
import { sql } from './sql.ts'

/** The database's time. */
export async function databaseTime(db: Db): Promise<Date> {
  const row = await db.row<{ now: Date }>(sql`select clock_timestamp() as now`)
  if (row === null) throw new Error('the database returned no time')
  return row.now
}

/** How many milliseconds `nowMs` is ahead of the database's clock; 0 if it is behind. */
export async function msAhead(db: Db, nowMs: number): Promise<number> {
  return Math.max(0, nowMs - (await databaseTime(db)).getTime())
}

/**
 * How many milliseconds a clock is ahead of the database's clock; negative means behind. 0 if the
 * round trip may explain the whole difference.
 */
export async function msApart(db: Db, now: () => number): Promise<number> {
  const askedMs = now()
  const row = await db.row<{ at: Date }>(sql`select clock_timestamp() as at`)
  const answeredMs = now()
  const atMs = row?.at.getTime() ?? answeredMs
  return Math.min(answeredMs - atMs, 0) + Math.max(askedMs - atMs, 0)
}
