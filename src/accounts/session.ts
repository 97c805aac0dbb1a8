/**
 * Dashboard sessions: a random token in a cookie, its SHA-256 in the database.
 *
 * Three measures prevent cross-site request forgery. The cookie is SameSite=Strict. A change must
 * come from the dashboard's own pages (Sec-Fetch-Site, Origin). Its body must be application/json,
 * which no form of another site can send without a preflight that is never granted.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { parseCookie } from 'cookie'
import { ApiError } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { isPassword, UNKNOWN_USER_HASH } from './password.ts'
import {
  deleteSession,
  findSessionUser,
  findUserByEmail,
  insertSession,
  type UserRow,
} from './store.ts'

const TOKEN_BYTES = 32
/** A working week without signing in again, and the longest use of a stolen laptop. */
export const SESSION_SECONDS = 7 * 24 * 3600
const MUTATING = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** `__Host-` binds the cookie to https and to this host; browsers refuse it on http. */
export function sessionCookieName(isSecure: boolean): string {
  return isSecure ? '__Host-souk_session' : 'souk_session'
}

/**
 * Checks e-mail and password. Returns the token for the cookie, or null if one of them is wrong.
 */
export async function logIn(
  db: Db,
  { email, password, now }: { email: string; password: string; now: Date },
): Promise<{ token: string; user: UserRow } | null> {
  const found = await findUserByEmail(db, email)
  // An unknown address takes the same time, so nobody can find out who has an account.
  if (!(await isPassword(password, found?.password_hash ?? UNKNOWN_USER_HASH))) return null
  if (found === null) return null
  const { password_hash: passwordHash, ...user } = found
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const expiresAt = new Date(now.getTime() + SESSION_SECONDS * 1000)
  const session = { tokenHash: hashToken(token), uid: user.uid, passwordHash, expiresAt }
  return (await insertSession(db, session)) ? { token, user } : null
}

/** The user of a session's token; throws the 401 without a live session. */
export async function requireSession(
  db: Db,
  { token, now }: { token: string | undefined; now: Date },
): Promise<SessionUser> {
  const user =
    token === undefined ? null : await findSessionUser(db, { tokenHash: hashToken(token), now })
  if (user === null) throw new ApiError('notLoggedIn')
  return user
}

/** A person without a live session gets one answer: 401, sign in. */
export type SessionUser = NonNullable<Awaited<ReturnType<typeof findSessionUser>>>

/** The token in the session's cookie; null without one. */
export function readSessionCookie(
  header: string | string[] | undefined,
  baseUrl: string,
): string | null {
  if (typeof header !== 'string') return null
  return parseCookie(header)[sessionCookieName(baseUrl.startsWith('https:'))] ?? null
}

/**
 * What a page sends with every change beside its cookie. Only the dashboard's own pages can read it
 * (`GET /api/v1/me/`), so no other site can make a browser send it.
 */
export function csrfToken(sessionToken: string): string {
  return hash('sha256', `csrf ${sessionToken}`, 'base64url')
}

/** Throws unless a change in a session carries the session's CSRF token. */
export function requireCsrfToken(
  { method, headers }: Pick<OriginRequest, 'method' | 'headers'>,
  sessionToken: string,
): void {
  if (!MUTATING.has(method)) return
  const sent = Buffer.from(String(headers['x-souk-csrf'] ?? ''))
  const wanted = Buffer.from(csrfToken(sessionToken))
  if (sent.length !== wanted.length || !timingSafeEqual(sent, wanted)) {
    throw new ApiError('foreignOrigin', { message: CSRF_RULE })
  }
}

const CSRF_RULE =
  'A change in a session needs the header X-Souk-Csrf with the csrf_token of GET /api/v1/me/'

interface OriginRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export interface SessionRequest {
  readonly sessionUser?: SessionUser
}

/** The user that the session hook has found. */
export function sessionUserOf(request: SessionRequest): SessionUser {
  if (request.sessionUser === undefined) throw new Error('the route lacks the session hook')
  return request.sessionUser
}

export async function logOut(db: Db, token: string | undefined): Promise<void> {
  if (token !== undefined) await deleteSession(db, hashToken(token))
}

/** Throws unless a change comes from the dashboard's own pages, or from no browser. */
export function requireOwnOrigin(request: OriginRequest, baseUrl: string): void {
  if (!MUTATING.has(request.method)) return
  const { 'sec-fetch-site': site, origin, 'content-type': type } = request.headers
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  if (site !== undefined && site !== 'same-origin') throw new ApiError('foreignOrigin')
  if (site === undefined && origin !== undefined && origin !== new URL(baseUrl).origin) {
    throw new ApiError('foreignOrigin')
  }
  // A content type that no foreign form or Blob can have without a preflight.
  const hasBody = Number(length ?? 0) > 0 || coding !== undefined
  if ((type !== undefined || hasBody) && !/^application\/json\s*(;|$)/i.test(String(type))) {
    throw new ApiError('unsupportedMediaType', { message: 'The body must be application/json' })
  }
}

function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
