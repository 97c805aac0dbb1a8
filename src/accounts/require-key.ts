/**
 * Identifies the caller: from the Authorization header to the holder of the key.
 *
 * No key, an unknown, disabled or expired key and a wrong scheme all get the same answer: 401 with
 * code 4302. Each call looks the key up with one indexed query. Nothing is cached, so a disabled
 * key stops working on every node at once.
 */
import { LRUCache } from 'lru-cache'
import { ApiError } from '../platform/errors/api-errors.ts'
import type { TokenBuckets } from '../platform/limits/token-bucket.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { hashApiKey, isSameHash, readAuthorization } from './api-key.ts'
import { type ApiKeyRow, findKeyHolder, updateKeyUse } from './store.ts'

export interface KeyHolder {
  readonly tokenId: number
  readonly uid: number
  readonly pubIds: readonly number[]
  readonly isAdmin: boolean // Whether the user is an operator.
  readonly record: ApiKeyRow // Its datetime_last_used is the use before this call.
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `require`, and by `accept` if a key was sent. */
    keyHolder?: KeyHolder
  }
}

/** The part of a request that is read; any Fastify request has it. */
interface KeyedRequest {
  readonly method: string
  readonly headers: { readonly authorization?: string | undefined }
  readonly clientAddress?: string
  keyHolder?: KeyHolder
}

export type OnKeyUsed = (
  holder: KeyHolder,
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
}

/** The security entry in the schema of an endpoint that `require` guards. */
export const NEEDS_KEY = [{ apiKey: [] }]

export function makeKeyGuard(options: {
  db: Db
  brandWords: readonly string[]
  limits: TokenBuckets | null
  now: () => Date
  /** Called with each use and the key itself; must not throw. */
  onUsed?: OnKeyUsed
  /** Called when a use could not be stored; must not throw. */
  onUseLost?: (error: unknown) => void
}): KeyGuard {
  const { db, brandWords, limits, now, onUsed, onUseLost = () => undefined } = options
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
    const { key_hash: _, pub_ids: pubIds, is_admin: isAdmin, ...record } = found
    const { token_id: tokenId, uid, datetime_last_used: storedUse } = record
    // The time of now, not of arrival: times that go back and forth would refill the bucket.
    limits?.spend(String(tokenId), now().getTime())
    const datetime_last_used = later(storedUse, lastUses.get(tokenId) ?? null)
    const holder = { tokenId, uid, pubIds, isAdmin, record: { ...record, datetime_last_used } }
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
    request.keyHolder = await findHolder(request)
  }
  return {
    require,
    accept: async (request) => {
      if ((request.headers.authorization ?? '') !== '') await require(request)
    },
  }
}

/** The holder that `require` has found. */
export function holderOf(request: KeyedRequest): KeyHolder {
  if (request.keyHolder === undefined) throw new Error('the route lacks the hook that needs a key')
  return request.keyHolder
}

/** Throws a 403 unless the publisher belongs to the holder. */
export function requireOwnPublisher(holder: Pick<KeyHolder, 'pubIds'>, pubId: number): void {
  if (!holder.pubIds.includes(pubId)) throw new ApiError('notYours')
}

/** Throws a 403 unless the key belongs to an operator: a user created with `--admin`. */
export function requireOperator(holder: Pick<KeyHolder, 'isAdmin'>): void {
  if (!holder.isAdmin) throw new ApiError('notOperator')
}

function later(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one > other ? one : other
}
