/** Events that could not be folded, set aside so that later ones can be. */
import type { StoredEvent } from '../events/event.ts'
import { formatError } from '../platform/errors/format-error.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

/** An error in folding that is caused by the events, or by the code that folds them. */
export class Unfoldable extends Error {
  override name = 'Unfoldable'

  constructor(events: readonly StoredEvent[], cause: unknown) {
    const ids = `${events[0]?.id}${events.length > 1 ? ` and ${events.length - 1} more` : ''}`
    super(`event ${ids} cannot be folded: ${formatError(cause)}`, {
      cause,
    })
  }
}

export interface UnfoldedEvent {
  readonly lane: number
  readonly seq: string
}

/** With more than this in a lane, the events are no longer the cause. The lane stops instead. */
const UNFOLDED_MAX = 100

/** Throws the error itself if the lane has too many already. */
export async function setAside(tx: Db, event: StoredEvent, error: Unfoldable): Promise<void> {
  const { lane, seq, id, day } = event
  const added = await tx.run(sql`
    insert into unfolded_event (lane, seq, event_id, day, error)
    select ${lane}, ${seq}, ${id}, ${day}, ${error.message}
    where (select count(*) from unfolded_event where lane = ${lane}) < ${UNFOLDED_MAX}`)
  if (added === 0) throw error
}

/** The sequence numbers of a lane's events that were set aside, in order. */
export async function listUnfolded(db: Db, lane: number): Promise<string[]> {
  const rows = await db.rows<{ seq: string }>(sql`
    select seq from unfolded_event where lane = ${lane} order by seq`)
  return rows.map(({ seq }) => seq)
}

export async function deleteUnfolded(tx: Db, { lane, seq }: UnfoldedEvent): Promise<void> {
  await tx.run(sql`delete from unfolded_event where lane = ${lane} and seq = ${seq}`)
}

export async function countUnfolded(db: Db): Promise<number> {
  const row = await db.row<{ events: number }>(sql`
    select count(*)::int as events from unfolded_event`)
  return row?.events ?? 0
}
