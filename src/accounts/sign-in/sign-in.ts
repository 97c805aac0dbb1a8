/** Signs a user in: the password, then the session. */
import { ApiError } from '../../platform/errors/api-errors.ts'
import type { Db } from '../../platform/postgres/postgres.ts'
import { isPassword, UNKNOWN_USER_HASH } from '../password.ts'
import { type SessionStart, startSession } from '../session.ts'
import { findUserByEmail, type UserRow } from '../store.ts'

export interface Credentials {
  readonly email: string
  readonly password: string
}

/** Where the sign-in comes from, and when. */
export type Origin = Pick<SessionStart, 'userAgent' | 'address' | 'now'>

/** The user whose e-mail address and password these are; null if one of them is wrong. */
export async function findByPassword(
  db: Db,
  { email, password }: Credentials,
): Promise<(UserRow & { readonly password_hash: string }) | null> {
  const found = await findUserByEmail(db, email)
  // An unknown address takes the same time, so nobody can find out who has an account.
  if (!(await isPassword(password, found?.password_hash ?? UNKNOWN_USER_HASH))) return null
  if (found?.is_suspended === true) throw new ApiError('notLoggedIn', { message: SUSPENDED })
  return found
}

const SUSPENDED = 'This account is suspended. The operator of the network can restore it.'

/** The token of a new session; null if the e-mail address or the password is wrong. */
export async function signIn(
  db: Db,
  { credentials, origin }: { credentials: Credentials; origin: Origin },
): Promise<string | null> {
  const user = await findByPassword(db, credentials)
  if (user === null) return null
  return startSession(db, { ...origin, uid: user.uid, passwordHash: user.password_hash })
}
