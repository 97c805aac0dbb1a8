/**
 * Identifies the caller: a program by its API key, or a person by the dashboard's session.
 *
 * No key, an unknown, disabled or expired key and a wrong scheme all get the same answer: 401 with
 * code 4302. Each call looks the key up with one indexed query. Nothing is cached, so a disabled
 * key and a lost role stop working on every node at once.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { LRUCache } from 'lru-cache'
import { ApiError, notFound } from '../platform/errors/api-errors.ts'
import type { TokenBuckets } from '../platform/limits/token-bucket.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { hashApiKey, isSameHash, readAuthorization } from './api-key.ts'
import { authorize, type Caller, ownIds, permissionsIn } from './caller.ts'
import {
  boundOrganization,
  isOrganization,
  type MembershipJson,
  toMemberships,
} from './membership-store.ts'
import { organizationOf } from './operation.ts'
import type { Organization, Permission } from './permission.ts'
import { readSessionCookie, requireCsrfToken, requireSession, sessionCaller } from './session.ts'
import { updateSessionUse } from './session-store.ts'
import { type ApiKeyRow, findKeyHolder, updateKeyUse } from './store.ts'

/** The user of a call with a key or a session. */
export interface KeyHolder extends Caller {
  readonly uid: number
  /** The publishers that the user belongs to, as far as the key is for them. */
  readonly pubIds: readonly number[]
  /** The key; null for a session. Its datetime_last_used is the use before this call. */
  readonly record: ApiKeyRow | null
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the caller needs in the organization of the path; null: only to be signed in. */
    permission?: Permission | null
    /** Whether an unknown organization is refused as a foreign one is. */
    hidesIds?: boolean
  }
  interface FastifyRequest {
    /** Set by `require`, and by `accept` if a key was sent. */
    keyHolder?: KeyHolder
  }
}

/** The part of a request that is read; any Fastify request has it. */
interface KeyedRequest {
  readonly params?: unknown
  readonly routeOptions?: {
    readonly url?: string | undefined
    readonly config: { readonly permission?: Permission | null; readonly hidesIds?: boolean }
  }
  readonly method: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>> & {
    readonly authorization?: string | undefined
  }
  readonly clientAddress?: string
  keyHolder?: KeyHolder
}

export type OnKeyUsed = (
  holder: KeyHolder & { readonly record: ApiKeyRow },
  use: { readonly key: string; readonly address: string; readonly at: Date },
) => void

/** How often the last use is written to the database. */
const USE_WRITTEN_EVERY_MS = 60_000
/** The last uses in between, in memory. */
const LAST_USES_MAX = 10_000

export interface KeyGuard {
  /** A hook for endpoints that need a key: throws the 401, or a 429 over the key's limit. */
  require(request: KeyedRequest): Promise<void>
  /** A hook for endpoints with an optional key: a key that is sent must be valid. */
  accept(request: KeyedRequest): Promise<void>
  /**
   * A hook after these: throws unless the caller has the route's permission in the organization of
   * the path. So what a caller sends is checked only where it has the right to send it.
   */
  admit(request: KeyedRequest): Promise<void>
}

/** The security entry in the schema of an endpoint that `require` guards. */
export const NEEDS_KEY = [{ apiKey: [] }]

export function makeKeyGuard(options: {
  db: Db
  brandWords: readonly string[]
  limits: TokenBuckets | null
  /** The service's own address, which names the session's cookie. */
  baseUrl: string
  now: () => Date
  /** Called with each use and the key itself; must not throw. */
  onUsed?: OnKeyUsed
  /** Called when a use could not be stored; must not throw. */
  onUseLost?: (error: unknown) => void
}): KeyGuard {
  const { db, brandWords, limits, baseUrl, now, onUsed, onUseLost = () => undefined } = options
  // Every 401 names the accepted scheme (RFC 9110, 15.5.2).
  const challenge = { 'www-authenticate': `${brandWords[0]}-api-key`.toUpperCase() }
  const refuse = () => new ApiError('invalidApiKey', { headers: challenge })
  const lastUses = new LRUCache<number, Date>({ max: LAST_USES_MAX })

  const findHolder = async (request: KeyedRequest): Promise<KeyHolder> => {
    const key = readAuthorization(request.headers.authorization, brandWords)
    if (key === null) throw refuse()
    const [keyHash, at] = [hashApiKey(key), now()]
    const found = await findKeyHolder(db, { keyHash, now: at })
    if (found === null || !isSameHash(found.key_hash, keyHash)) throw refuse()
    const { key_hash: _, memberships, ...record } = found
    const { token_id: tokenId, datetime_last_used: storedUse } = record
    // The time of now, not of arrival: times that go back and forth would refill the bucket.
    limits?.spend(String(tokenId), now().getTime())
    const datetime_last_used = later(storedUse, lastUses.get(tokenId) ?? null)
    const holder = holderOfKey({ ...record, datetime_last_used }, memberships)
    if (request.method === 'HEAD') return holder // HEAD records nothing.
    if (storedUse === null || at.getTime() - storedUse.getTime() >= USE_WRITTEN_EVERY_MS) {
      // A database that accepts no writes (a standby or a full disk) still serves reads.
      await updateKeyUse(db, { tokenId, at }).catch(onUseLost)
    }
    lastUses.set(tokenId, at)
    onUsed?.(holder, { key, address: request.clientAddress ?? '', at })
    return holder
  }
  const require = async (request: KeyedRequest) => {
    const hasKey = (request.headers.authorization ?? '') !== ''
    const deps = { baseUrl, now: now(), onUseLost }
    const session = hasKey ? null : await findSession(db, request, deps)
    request.keyHolder = session ?? (await findHolder(request))
  }
  return {
    require,
    accept: async (request) => {
      if ((request.headers.authorization ?? '') !== '') await require(request)
    },
    admit: (request) => admitToPath(db, request),
  }
}

async function admitToPath(
  db: Db,
  { keyHolder: holder, params, routeOptions }: KeyedRequest,
): Promise<void> {
  const permission = routeOptions?.config.permission ?? null
  if (holder === undefined || permission === null) return
  const path = routeOptions?.url ?? ''
  const organization = organizationOf(path, (params ?? {}) as Record<string, unknown>)
  if (organization.kind === 'network' && !OF_NETWORK.test(permission)) {
    requireSomewhere(holder, permission)
    return
  }
  if (organization.id !== null && !Number.isInteger(organization.id)) return // The schema refuses.
  if (permissionsIn(holder, organization)?.has(permission) === true) return
  // The routes of the interface are older than roles: there an unknown id is a 404.
  const hidesIds = routeOptions?.config.hidesIds === true
  if (!hidesIds && !(await isOrganization(db, organization))) {
    throw notFound(`No ${organization.kind} ${organization.id}`)
  }
  authorize(holder, organization, permission)
}

const OF_NETWORK = /^network\./

/**
 * Throws a 403 for a caller that has the permission nowhere. The others name their publisher in
 * what they send.
 */
function requireSomewhere(holder: KeyHolder, permission: Permission): void {
  const own = holder.memberships
    .map(({ organization }) => organization)
    .filter((organization) => permissionsIn(holder, organization) !== null)
  const [first] = own
  const has = own.some((organization) => permissionsIn(holder, organization)?.has(permission))
  if (first !== undefined && !has) authorize(holder, first, permission)
}

/**
 * From here on each route of `app` needs a key or a session with this permission, unless its own
 * configuration names another one. The reference shows it as `x-permission`.
 */
export function needPermission(
  app: Parameters<FastifyPluginAsyncTypebox>[0],
  {
    keys,
    permission,
    hidesIds = false,
  }: {
    readonly keys: KeyGuard
    readonly permission: Permission | null
    readonly hidesIds?: boolean
  },
): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, hidesIds }
  })
  app.addHook('onRequest', keys.require)
  app.addHook('onRequest', keys.admit)
  declarePermission(app, permission)
}

/** The same where the key is optional; then it must have the permission if it is sent. */
export function declarePermission(
  app: Parameters<FastifyPluginAsyncTypebox>[0],
  permission: Permission | null,
): void {
  app.addHook('onRoute', (route) => {
    const own = route.config?.permission
    const needed = own === undefined ? permission : own
    route.config = { ...route.config, permission: needed }
    if (route.schema !== undefined) Object.assign(route.schema, { 'x-permission': needed })
  })
}

/** The holder that `require` has found. */
export function holderOf(request: Pick<KeyedRequest, 'keyHolder'>): KeyHolder {
  if (request.keyHolder === undefined) throw new Error('the route lacks the hook that needs a key')
  return request.keyHolder
}

/**
 * Throws unless the route's permission is the caller's in this organization. A program that knows
 * no roles sees what it saw before there were any: 403, not yours.
 */
export function requireRight(request: RightRequest, organization: Organization): void {
  const { permission } = request.routeOptions.config
  if (permission === undefined || permission === null) throw new Error('no permission is declared')
  authorize(holderOf(request), organization, permission)
}

export interface RightRequest extends Pick<KeyedRequest, 'keyHolder'> {
  readonly routeOptions: { readonly config: { readonly permission?: Permission | null } }
}

function holderOfKey(record: ApiKeyRow, memberships: readonly MembershipJson[]) {
  const { token_id: tokenId, uid, scopes } = record
  const caller: Caller & { uid: number } = {
    uid,
    through: { kind: 'key', tokenId },
    memberships: toMemberships(memberships),
    scopes,
    boundTo: boundOrganization(record),
  }
  return { ...caller, pubIds: ownIds(caller, 'publisher'), record }
}

interface SessionDeps {
  readonly baseUrl: string
  readonly now: Date
  readonly onUseLost: (error: unknown) => void
}

/** The holder of the request's session; null without a session's cookie. */
async function findSession(
  db: Db,
  request: KeyedRequest,
  { baseUrl, now, onUseLost }: SessionDeps,
): Promise<KeyHolder | null> {
  const token = readSessionCookie(request.headers.cookie, baseUrl)
  if (token === null) return null
  const user = await requireSession(db, { token, now })
  requireCsrfToken(request, token)
  const isStale = now.getTime() - user.datetime_last_used.getTime() >= USE_WRITTEN_EVERY_MS
  if (isStale && request.method !== 'HEAD') {
    await updateSessionUse(db, { sessionId: user.session_id, at: now }).catch(onUseLost)
  }
  const caller = sessionCaller(user, token)
  return { ...caller, pubIds: ownIds(caller, 'publisher'), record: null }
}

function later(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one > other ? one : other
}
