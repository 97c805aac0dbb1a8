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
import type { Caller } from './caller.ts'
import { toMemberships } from './membership-store.ts'
import { deleteSession, findSessionUser, insertSession } from './session-store.ts'

const TOKEN_BYTES = 32
/** A working week without signing in again, and the longest use of a stolen laptop. */
export const SESSION_SECONDS = 7 * 24 * 3600
/** Real ones have up to 250 characters; the list of sessions shows their beginning. */
const USER_AGENT_LENGTH_MAX = 300
const MUTATING = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** `__Host-` binds the cookie to https and to this host; browsers refuse it on http. */
export function sessionCookieName(isSecure: boolean): string {
  return isSecure ? '__Host-souk_session' : 'souk_session'
}

/** The client that starts a session, as shown among the user's sessions. */
export interface SessionStart {
  readonly uid: number
  /** The hash of the password that was checked; null if another service signed the user in. */
  readonly passwordHash: string | null
  readonly userAgent: string
  readonly address: string
  readonly now: Date
}

/** Starts a session. Returns the token for its cookie; null if the password changed meanwhile. */
export async function startSession(db: Db, start: SessionStart): Promise<string | null> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const expiresAt = new Date(start.now.getTime() + SESSION_SECONDS * 1000)
  const userAgent = start.userAgent.slice(0, USER_AGENT_LENGTH_MAX)
  const session = { ...start, userAgent, tokenHash: hashToken(token), expiresAt }
  return (await insertSession(db, session)) ? token : null
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

/** The caller that a live session speaks for. */
export function sessionCaller(user: SessionUser, token: string): Caller & { uid: number } {
  return {
    uid: user.uid,
    through: { kind: 'session', sessionId: user.session_id, csrfToken: csrfToken(token) },
    memberships: toMemberships(user.memberships),
    scopes: null,
    boundTo: null,
  }
}

/**
 * The session that a change of one's own sign-in comes through. Throws a 403 for an API key: a
 * stolen one must not change the password, nor lock its user out.
 */
export function requireOwnSession({ uid, through }: Caller): { uid: number; sessionId: number } {
  if (through.kind === 'session' && uid !== null) return { uid, sessionId: through.sessionId }
  throw new ApiError('roleForbids', { message: 'Only a signed-in person may do this, not a key' })
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
