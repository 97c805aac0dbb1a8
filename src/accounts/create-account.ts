/** Users and API keys, from a person's input to the stored row. */
import { randomBytes } from 'node:crypto'
import { badRequest, notFound } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { hashApiKey, makeApiKey } from './api-key.ts'
import { hashPassword } from './password.ts'
import type { Organization, Permission } from './permission.ts'
import {
  type ApiKeyRow,
  insertApiKey,
  insertUser,
  KEYS_PER_USER_MAX,
  type UserRow,
  updateUser,
} from './store.ts'
import { keyFaults, type UserChanges, userFaults } from './user.ts'

const KEY_BYTES = 32
const TOO_MANY_KEYS = `has ${KEYS_PER_USER_MAX} API keys that still work; disable one first`

/** Creates a user; throws a 400 that names every fault. */
export async function createUser(
  db: Db,
  { email, password, isAdmin }: { email: string; password: string; isAdmin: boolean },
): Promise<UserRow> {
  const faults = await userFaults({ email, password })
  if (faults.length > 0) throw badRequest(faults)
  return insertUser(db, { email, isAdmin, passwordHash: await hashPassword(password) })
}

/**
 * Changes the given fields. Throws a 400 that names every fault, a 404 for an unknown user. A new
 * password ends the user's sessions; API keys keep working.
 */
export async function changeUser(
  db: Db,
  wanted: UserChanges & { uid: number; isAdmin?: boolean | undefined },
): Promise<UserRow> {
  const { uid, email = null, password, isAdmin = null } = wanted
  const faults = await userFaults(wanted)
  if (faults.length > 0) throw badRequest(faults)
  const passwordHash = password === undefined ? null : await hashPassword(password)
  const user = await updateUser(db, { uid, email, passwordHash, isAdmin })
  if (user === null) throw notFound(`No user ${uid}`)
  return user
}

interface WantedKey {
  readonly uid: number
  readonly description: string
  readonly expiresAt: Date | null
  readonly now: Date
  /** Its only permissions; null: all of its user. */
  readonly scopes?: readonly Permission[] | null
  /** The only organization that it is for; null: all of its user. */
  readonly boundTo?: Organization | null
}

/**
 * Creates an API key for a user; the key itself is returned only here. Throws a 400 when the user
 * has as many keys as allowed.
 */
export async function createApiKey(
  db: Db,
  wanted: WantedKey,
): Promise<{ key: string; row: ApiKeyRow }> {
  const faults = keyFaults(wanted, wanted.now)
  if (faults.length > 0) throw badRequest(faults)
  const key = makeApiKey(randomBytes(KEY_BYTES))
  const { uid, expiresAt, scopes = null, boundTo = null } = wanted
  const row = await insertApiKey(db, {
    ...{ uid, expiresAt, scopes, boundTo },
    description: wanted.description.trim(),
    keyHash: hashApiKey(key),
  })
  if (row === null) throw badRequest([{ field: 'user', rule: TOO_MANY_KEYS }])
  return { key, row }
}
