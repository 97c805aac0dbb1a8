/**
 * Work under locks of a session: they end with the work, with the connection, and with a holder
 * that is not heard of any more.
 */
import type { Database, Db } from './postgres.ts'
import { sql } from './sql.ts'

/**
 * After `silenceMsMax` without a word, outside a transaction, the server ends the session, and its
 * locks with it. TCP alone would take two hours to notice a machine that vanished, and never a
 * process that stands still. What the work came to by then counts nevertheless.
 */
export async function withSessionLocks<T>(
  database: Database,
  silenceMsMax: number,
  work: (session: Db) => Promise<T>,
): Promise<T> {
  const session = await database.reserve()
  try {
    await limitSilence(session, silenceMsMax)
    const result = await work(session)
    session.release(await unlock(session))
    return result
  } catch (error) {
    session.release(error as Error)
    throw error
  }
}

/** The pool lends the connection to others next: undefined when it is fit for them. */
async function unlock(session: Db): Promise<Error | undefined> {
  try {
    await session.run(sql`select pg_advisory_unlock_all()`)
    await limitSilence(session, 0)
    return undefined
  } catch (error) {
    return error as Error
  }
}

async function limitSilence(session: Db, ms: number): Promise<void> {
  await session.run(sql`select set_config('idle_session_timeout', ${String(ms)}, false)`)
}
