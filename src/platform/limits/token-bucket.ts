/**
 * Rate limits as token buckets, per node, in a bounded cache.
 *
 * Our own code rather than a library: it is on the hot path and answers synchronously, whereas
 * maintained libraries return promises and count in fixed windows.
 */
import { LRUCache } from 'lru-cache'
import { ApiError } from '../errors/api-errors.ts'

/** Beyond this number of addresses the least active ones are dropped, which bounds memory. */
const BUCKETS_MAX = 100_000

interface Bucket {
  tokens: number
  atMs: number
}

export class TokenBuckets {
  readonly #buckets = new LRUCache<string, Bucket>({ max: BUCKETS_MAX })
  readonly #rate: number
  readonly #burst: number

  constructor({ rate, burst }: { rate: number; burst: number }) {
    this.#rate = rate
    this.#burst = burst
  }

  /** Takes `cost` tokens of `key` if available. A cost above the maximum takes all tokens. */
  take(key: string, nowMs: number, cost = 1): boolean {
    const bucket = this.#refilled(key, nowMs)
    const price = Math.min(cost, this.#burst)
    if (bucket.tokens < price) return false
    bucket.tokens -= price
    return true
  }

  /** Takes `cost` tokens of `key`. Throws a 429 if they are not available. */
  spend(key: string, nowMs: number, cost = 1): void {
    if (!this.take(key, nowMs, cost)) this.check(key, nowMs, cost)
  }

  /** Throws a 429 with the time at which `cost` tokens of `key` will be available; takes none. */
  check(key: string, nowMs: number, cost = 1): void {
    const { tokens } = this.#refilled(key, nowMs)
    const price = Math.min(cost, this.#burst)
    if (tokens >= price) return
    const seconds = String(Math.max(1, Math.ceil((price - tokens) / this.#rate)))
    const headers = {
      'retry-after': seconds,
      'ratelimit-limit': String(this.#burst),
      'ratelimit-remaining': String(Math.floor(tokens)),
      'ratelimit-reset': seconds,
    }
    throw new ApiError('rateLimited', { headers })
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
