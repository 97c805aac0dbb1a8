/** How far a lane of the log has been folded. */
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

export async function findLanePosition(db: Db, lane: number): Promise<string> {
  const row = await db.row<{ position: string }>(
    sql`select position from lane where lane = ${lane}`,
  )
  if (row === null) throw new Error(`lane ${lane} is not in table lane`)
  return row.position
}
