/** Where to look for events that are not folded, without looking into every day there ever was. */
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

/**
 * The first day that may hold events of these lanes which are not folded. In a statement of its
 * own, as the days before it are left out when the next one is planned.
 */
export async function firstUnfoldedDay(db: Db, lanes: readonly number[]): Promise<string> {
  const row = await db.row<{ day: string }>(sql`
    select min(first_unread_day(lane, position))::text as day
    from lane where lane = any(${lanes}::int[])`)
  if (row === null) throw new Error('table lane has none of these lanes')
  return row.day
}
