/** New passwords with a token that was sent by mail or handed over by the operator. */
import { hash, randomBytes } from 'node:crypto'
import { badRequest } from '../../platform/errors/api-errors.ts'
import type { Db } from '../../platform/postgres/postgres.ts'
import { formatTimestamp, HOUR_MS } from '../../platform/time/timestamp.ts'
import { writeAudit } from '../audit-store.ts'
import type { Caller } from '../caller.ts'
import { hashPassword } from '../password.ts'
import { NETWORK } from '../permission.ts'
import { updateUser } from '../store.ts'
import { userFaults } from '../user.ts'
import { deleteResetsOf, findReset, insertReset } from './password-reset-store.ts'

const TOKEN_BYTES = 32
const RESET_MS = HOUR_MS

export interface ResetLink {
  readonly url: string
  readonly tokenHash: Buffer
  readonly expiresAt: Date
}

/** A link for a new password; null if the user has enough of them, or is suspended. */
export async function makeResetLink(
  db: Db,
  { uid, baseUrl, now }: { uid: number; baseUrl: string; now: Date },
): Promise<ResetLink | null> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const [tokenHash, expiresAt] = [hashToken(token), new Date(now.getTime() + RESET_MS)]
  if (!(await insertReset(db, { tokenHash, uid, expiresAt, now }))) return null
  // After the #, which no browser sends to a server: neither logs nor referrers show it.
  return { url: `${baseUrl}/dashboard/new-password#token=${token}`, tokenHash, expiresAt }
}

/**
 * Sets the password of a token's user and ends all of its sessions. Throws a 400 for a token that
 * is unknown, used or expired, and for a password that is refused; the token then stays.
 */
export async function resetPassword(
  db: Db,
  wanted: { token: string; password: string; now: Date; requestId: string },
): Promise<void> {
  const { token, password, now, requestId } = wanted
  const tokenHash = hashToken(token)
  await db.transaction(async (tx) => {
    const uid = await findReset(tx, { tokenHash, now })
    if (uid === null) throw badRequest([{ field: 'token', rule: TOKEN_RULE }])
    const faults = await userFaults({ password })
    if (faults.length > 0) throw badRequest(faults)
    const passwordHash = await hashPassword(password)
    await updateUser(tx, { uid, email: null, passwordHash, isAdmin: null })
    await deleteResetsOf(tx, uid)
    const through = { kind: 'link' } as const
    const caller: Caller = { uid, through, memberships: [], scopes: null, boundTo: null }
    const change = { action: 'user.reset_password', target: `user:${uid}` }
    await writeAudit(tx, { caller, organization: NETWORK, requestId }, change)
  })
}

const TOKEN_RULE = 'is unknown, used or expired; ask for a new link'

/** The mail with a link. */
export function resetMail({ url, expiresAt }: ResetLink, baseUrl: string) {
  const text = `Somebody asked for a new password for your account at ${baseUrl}.

To choose it, open this link before ${formatTimestamp(expiresAt)}. It works once.

${url}

If it was not you, ignore this mail: your password stays as it is.
`
  return { subject: 'Choose a new password', text }
}

function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
