/** How far a lane of the log has been folded. */
import { dayOf } from '../events/event-fields.ts'
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

/** Whether a lane has been folded up to all of these events; false as long as one is not logged. */
export async function areFolded(
  db: Db,
  lane: number,
  events: readonly { readonly id: string; readonly atMs: number }[],
): Promise<boolean> {
  const row = await db.row<{ folded: number }>(sql`
    select count(*)::int as folded from event join lane using (lane)
    where lane = ${lane} and seq <= position
      and (day, id) in (select * from unnest(
        ${events.map(({ atMs }) => dayOf(atMs))}::date[],
        ${events.map(({ id }) => id)}::bigint[]))`)
  return row?.folded === events.length
}
