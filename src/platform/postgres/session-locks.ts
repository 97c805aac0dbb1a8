/**
 * Work under session locks. They end with the work, with the connection, or when the holder falls
 * silent.
 */
import type { Database, Db } from './postgres.ts'
import { sql } from './sql.ts'

/**
 * Runs work under session locks. After `silenceMsMax` of silence, even inside a transaction, the
 * server ends the session and releases its locks. TCP alone needs two hours to notice a vanished
 * machine and never notices a frozen process. Work committed before the lock was lost stays valid.
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
    // A lost connection has no locks left.
    await session.run(sql`select pg_advisory_unlock_all()`).catch(() => undefined)
    return result
  } finally {
    session.release(new Error('its limits apply to nobody else'))
  }
}
