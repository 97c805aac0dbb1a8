/**
 * Work under locks of a session: they end with the work, with the connection, and with a holder
 * that is not heard of any more.
 */
import type { Database, Db } from './postgres.ts'
import { sql } from './sql.ts'

/**
 * After `silenceMsMax` without a word, also in the middle of a transaction, the server ends the
 * session, and its locks with it. TCP alone would take two hours to notice a machine that vanished,
 * and never a process that stands still. What the work came to by then counts nevertheless.
 */
export async function withSessionLocks<T>(
  database: Database,
  silenceMsMax: number,
  work: (session: Db) => Promise<T>,
): Promise<T> {
  const session = await database.reserve()
  try {
    await session.run(sql`
      select set_config('idle_session_timeout', ${String(silenceMsMax)}, false),
        set_config('idle_in_transaction_session_timeout', ${String(silenceMsMax)}, false)`)
    const result = await work(session)
    // A connection that is gone has no locks any more.
    await session.run(sql`select pg_advisory_unlock_all()`).catch(() => undefined)
    return result
  } finally {
    session.release(new Error('nobody else is to be held to its limits'))
  }
}
