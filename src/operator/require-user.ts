/** The user that a body names by id. */
import { findUser } from '../accounts/store.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'

/** Throws a 400 that names `uid` if there is no such user. */
export async function requireUser(db: Db, uid: number): Promise<void> {
  if ((await findUser(db, uid)) !== null) return
  throw badRequest([{ field: 'uid', rule: `no user ${uid}` }])
}
