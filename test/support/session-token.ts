/** Signs a user in without a password, for tests that are not about signing in. */
import { startSession } from '../../src/accounts/session.ts'
import { findUserByEmail } from '../../src/accounts/store.ts'
import type { Db } from '../../src/platform/postgres/postgres.ts'

/** The token of a new session, for the session's cookie. */
export async function sessionToken(db: Db, email: string, now = new Date()): Promise<string> {
  const uid = (await findUserByEmail(db, email))?.uid ?? 0
  const token = await startSession(db, {
    ...{ uid, passwordHash: null, userAgent: '', address: '', now },
  })
  if (token === null) throw new Error(`${email} cannot sign in`)
  return token
}
