/**
 * Rate limits as token buckets, kept per node in a bounded cache.
 *
 * Ours rather than a library's: it stands on the hot path and answers at once, where the kept
 * ones return promises and count in fixed windows.
 */
import { LRUCache } from 'lru-cache'

/** A crowd of addresses beyond this forgets the quietest ones: memory stays bounded. */
const BUCKETS_MAX = 100_000

interface Bucket {
  tokens: number
  atMs: number
}

export interface LimitState {
  readonly isAllowed: boolean
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number // until one more is allowed, or the bucket is full again
}

export class TokenBuckets {
  readonly #buckets = new LRUCache<string, Bucket>({ max: BUCKETS_MAX })
  readonly #rate: number
  readonly #burst: number

  constructor({ rate, burst }: { rate: number; burst: number }) {
    this.#rate = rate
    this.#burst = burst
  }

  /** Takes one token of `key` if there is one. */
  take(key: string, nowMs: number): boolean {
    const bucket = this.#refilled(key, nowMs)
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }

  /** For the RateLimit-* headers; takes nothing. */
  state(key: string, nowMs: number): LimitState {
    const { tokens } = this.#refilled(key, nowMs)
    const missing = tokens < 1 ? 1 - tokens : this.#burst - tokens
    return {
      isAllowed: tokens >= 1,
      limit: this.#burst,
      remaining: Math.floor(tokens),
      resetSeconds: Math.max(1, Math.ceil(missing / this.#rate)),
    }
  }

  #refilled(key: string, nowMs: number): Bucket {
    let bucket = this.#buckets.get(key)
    if (bucket === undefined) {
      bucket = { tokens: this.#burst, atMs: nowMs }
      this.#buckets.set(key, bucket)
    }
    const elapsedMs = Math.max(0, nowMs - bucket.atMs)
    bucket.tokens = Math.min(this.#burst, bucket.tokens + (elapsedMs * this.#rate) / 1000)
    bucket.atMs = nowMs
    return bucket
  }
}

export function limitHeaders(state: LimitState): Record<string, string> {
  return {
    'retry-after': String(state.resetSeconds),
    'ratelimit-limit': String(state.limit),
    'ratelimit-remaining': String(state.remaining),
    'ratelimit-reset': String(state.resetSeconds),
  }
}
