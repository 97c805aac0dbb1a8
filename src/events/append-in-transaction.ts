/** Appends events to the log in PostgreSQL inside a transaction of the caller. */
import type { Db } from '../platform/postgres/postgres.ts'
import { constantSql, sql } from '../platform/postgres/sql.ts'
import type { LogEvent } from './event.ts'
import { INSERT_EVENTS, insertParameters } from './event-log-sql.ts'

/** More need more memory at once, and are no faster. */
const EVENTS_AT_ONCE = 5_000

/**
 * All events become visible at the commit, or none. Until then the locks of their lanes are held:
 * about 20 µs an event, while appends of other processes go to their spools.
 */
export async function appendInTransaction(tx: Db, events: readonly LogEvent[]): Promise<void> {
  await tx.run(sql`set local synchronous_commit to on`) // Whatever the server's default.
  for (let start = 0; start < events.length; start += EVENTS_AT_ONCE) {
    const values = insertParameters(events.slice(start, start + EVENTS_AT_ONCE))
    await tx.run({ ...constantSql(INSERT_EVENTS), values })
  }
}
