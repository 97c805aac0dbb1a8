/**
 * Signs a user in: the password, then a second factor where the user has one, then the session.
 *
 * Without the second factor the answer is a challenge, a token that stands for the password that
 * was right. It is valid for five minutes and for one session.
 */
import { hash, randomBytes } from 'node:crypto'
import type { Static } from 'typebox'
import { ApiError, badRequest } from '../../platform/errors/api-errors.ts'
import type { Db } from '../../platform/postgres/postgres.ts'
import { isPassword, UNKNOWN_USER_HASH } from '../password.ts'
import { type SessionStart, startSession } from '../session.ts'
import { findUserByEmail, type UserRow } from '../store.ts'
import {
  deleteChallenge,
  type Factors,
  findChallenge,
  findTotp,
  insertChallenge,
  readFactors,
  spendRecoveryCode,
  spendTotpStep,
} from './factor-store.ts'
import type { LoginLimits } from './login-limits.ts'
import {
  type AuthenticationOptions,
  type AuthenticationResponse,
  authenticationOptions,
  checkAuthentication,
  PASSKEY_MS,
} from './passkey.ts'
import { listPasskeys, updatePasskeyUse } from './passkey-store.ts'
import { hashRecoveryCode } from './recovery-code.ts'
import { stepOfCode } from './totp.ts'

const TOKEN_BYTES = 32
const CHALLENGE_MS = PASSKEY_MS

/** What was sent: e-mail address and password or a challenge, and perhaps a second factor. */
export interface Credentials {
  readonly email?: string
  readonly password?: string
  readonly challenge?: string
  readonly totp?: string
  readonly recovery_code?: string
  readonly passkey?: Static<typeof AuthenticationResponse>
}

/** Where the sign-in comes from, and when. */
export type Origin = Pick<SessionStart, 'userAgent' | 'address' | 'now'>

export interface SignInDeps {
  readonly db: Db
  readonly limits: LoginLimits
  readonly baseUrl: string
}

/** A session's token, or the second factor that is outstanding. */
export type SignedIn = { readonly kind: 'in'; readonly token: string } | FactorNeeded

export interface FactorNeeded {
  readonly kind: 'factor needed'
  readonly challenge: string
  readonly factors: Factors
  readonly passkeyOptions: Static<typeof AuthenticationOptions> | null
  readonly expiresAt: Date
}

/** A user whose password was right. */
interface Known {
  readonly uid: number
  readonly passwordHash: string
  /** Null where the password came with this call. */
  readonly challenge: { readonly tokenHash: Buffer; readonly passkeyChallenge: string } | null
}

/** The user whose e-mail address and password these are; null if one of them is wrong. */
export async function findByPassword(
  db: Db,
  { email, password }: { email: string; password: string },
): Promise<(UserRow & { readonly password_hash: string }) | null> {
  const found = await findUserByEmail(db, email)
  // An unknown address takes the same time, so nobody can find out who has an account.
  if (!(await isPassword(password, found?.password_hash ?? UNKNOWN_USER_HASH))) return null
  if (found?.is_suspended === true) throw new ApiError('notLoggedIn', { message: SUSPENDED })
  return found
}

const SUSPENDED = 'This account is suspended. The operator of the network can restore it.'

/** Throws a 401 for anything wrong, with one answer for a wrong address and a wrong password. */
export async function signIn(
  deps: SignInDeps,
  { credentials, origin }: { credentials: Credentials; origin: Origin },
): Promise<SignedIn> {
  const known = await findKnown(deps, credentials, origin)
  const factors = await readFactors(deps.db, known.uid)
  const isSecondNeeded = factors.totp || factors.passkeys > 0
  if (isSecondNeeded && !hasProof(credentials)) {
    if (known.challenge !== null) throw badRequest([{ field: 'totp', rule: PROOF_RULE }])
    return askFactor(deps, known, { factors, now: origin.now })
  }
  const enter = () => enterWith(deps, known, { isSecondNeeded, credentials, origin })
  const token = await (isSecondNeeded ? deps.limits.runFactor(known.uid, enter) : enter())
  if (token === null) throw refused(isSecondNeeded ? WRONG_FACTOR : WRONG_PASSWORD)
  return { kind: 'in', token }
}

const WRONG_PASSWORD = 'Wrong e-mail address or password'
const WRONG_FACTOR = 'Wrong second factor. A code works once and for about a minute.'
const ENDED = 'This sign-in has ended. Start again with your password.'
const PROOF_RULE = 'or recovery_code or passkey is required with a challenge'
const CREDENTIALS_RULE = 'is required, unless a challenge is sent'
const refused = (message: string) => new ApiError('notLoggedIn', { message })

const hasProof = ({ totp, recovery_code, passkey }: Credentials): boolean =>
  totp !== undefined || recovery_code !== undefined || passkey !== undefined

async function findKnown(
  { db, limits }: SignInDeps,
  { challenge, email, password }: Credentials,
  { address, now }: Origin,
): Promise<Known> {
  if (challenge !== undefined) {
    limits.spendAddress(address)
    const tokenHash = hashToken(challenge)
    const row = await findChallenge(db, { tokenHash, now })
    if (row === null) throw refused(ENDED)
    const held = { tokenHash, passkeyChallenge: row.passkey_challenge }
    return { uid: row.uid, passwordHash: row.password_hash, challenge: held }
  }
  if (email === undefined || password === undefined) {
    const missing = { email, password }
    throw badRequest(
      (['email', 'password'] as const)
        .filter((field) => missing[field] === undefined)
        .map((field) => ({ field, rule: CREDENTIALS_RULE })),
    )
  }
  const user = await limits.run({ address, email }, () => findByPassword(db, { email, password }))
  if (user === null) throw refused(WRONG_PASSWORD)
  return { uid: user.uid, passwordHash: user.password_hash, challenge: null }
}

/** A challenge for the second factor. */
async function askFactor(
  { db, baseUrl }: SignInDeps,
  { uid, passwordHash }: Known,
  { factors, now }: { factors: Factors; now: Date },
): Promise<FactorNeeded> {
  const challenge = randomBytes(TOKEN_BYTES).toString('base64url')
  const expiresAt = new Date(now.getTime() + CHALLENGE_MS)
  const options = await authenticationOptions({ baseUrl, held: await listPasskeys(db, uid) })
  await insertChallenge(db, {
    ...{ tokenHash: hashToken(challenge), uid, passwordHash, expiresAt },
    passkeyChallenge: options.challenge,
  })
  const passkeyOptions = factors.passkeys > 0 ? options : null
  return { kind: 'factor needed', challenge, factors, passkeyOptions, expiresAt }
}

interface Entering {
  readonly isSecondNeeded: boolean
  readonly credentials: Credentials
  readonly origin: Origin
}

/** The token of a new session; null if the second factor is wrong or the password has changed. */
function enterWith(
  { db, baseUrl }: SignInDeps,
  known: Known,
  { isSecondNeeded, credentials, origin }: Entering,
): Promise<string | null> {
  const { uid, passwordHash, challenge } = known
  return db.transaction(async (tx) => {
    const proof = { ...known, credentials, baseUrl, now: origin.now }
    if (isSecondNeeded && !(await isProof(tx, proof))) return null
    if (challenge !== null && !(await deleteChallenge(tx, challenge.tokenHash))) return null
    return startSession(tx, { ...origin, uid, passwordHash })
  })
}

/** Checks one second factor and uses it up. */
async function isProof(
  tx: Db,
  {
    uid,
    challenge,
    credentials,
    baseUrl,
    now,
  }: Known & {
    readonly credentials: Credentials
    readonly baseUrl: string
    readonly now: Date
  },
): Promise<boolean> {
  const { totp, recovery_code: code, passkey } = credentials
  if (totp !== undefined) {
    const held = await findTotp(tx, uid)
    const step = held?.is_confirmed === true ? stepOfCode(held.secret, totp, now) : null
    return step !== null && spendTotpStep(tx, { uid, step, now })
  }
  if (code !== undefined) return spendRecoveryCode(tx, { uid, codeHash: hashRecoveryCode(code) })
  if (passkey === undefined || challenge === null) return false
  const held = await listPasskeys(tx, uid)
  const used = await checkAuthentication(passkey, {
    ...{ baseUrl, held, challenge: challenge.passkeyChallenge },
  })
  if (used === null) return false
  await updatePasskeyUse(tx, { ...used, now })
  return true
}

function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
