/** Finds unfolded events without opening every past day. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

/**
 * The first day that may hold unfolded events of these lanes. A separate statement, so that earlier
 * days are pruned when the next one is planned.
 */
export async function firstUnfoldedDay(db: Db, lanes: readonly number[]): Promise<string> {
  const row = await db.row<{ day: string }>(sql`
    select min(first_unread_day(lane, position))::text as day
    from lane where lane = any(${lanes}::int[])`)
  if (row === null) throw new Error('table lane has none of these lanes')
  return row.day
}

/** When the oldest unfolded event of a lane was accepted; null if all are folded. */
export async function oldestUnfolded(db: Db, lane: number): Promise<Date | null> {
  const dayFrom = await firstUnfoldedDay(db, [lane])
  const row = await db.row<{ at: Date | null }>(sql`
    select least(
      (select min(at) from event join lane using (lane)
        where lane = ${lane} and seq > position and day >= ${dayFrom}),
      (select min(day)::timestamp at time zone 'UTC' from unfolded_event where lane = ${lane})
    ) as at`)
  return row?.at ?? null
}
