/**
 * Limits how many calls run at once; others queue in order of arrival.
 *
 * For work that keeps a core or the database busy. More at once would finish no sooner, hold more
 * connections, and make everybody wait for the slowest.
 */
import { ApiError } from '../errors/api-errors.ts'

const BUSY = 'Too many such requests wait; retry shortly'
/** Shorter than client timeouts, so a retry does not queue behind its own abandoned request. */
export const CLIENT_TIMEOUT_MS = 10_000

export class ConcurrencyLimiter {
  readonly #atOnce: number
  readonly #timeoutMs: number | null
  /** In order of arrival. */
  readonly #waiting = new Set<() => void>()
  #running = 0

  /** A call that has waited for `timeoutMs` is refused; null: never. */
  constructor(atOnce: number, { timeoutMs = null }: { timeoutMs?: number | null } = {}) {
    this.#atOnce = atOnce
    this.#timeoutMs = timeoutMs
  }

  /** Rejects with a 503, without starting the work, when the time limit is over. */
  async run<T>(work: () => Promise<T>, timeoutMs = this.#timeoutMs): Promise<T> {
    // A finished call passes its slot on, so that no other call can take it in between.
    if (this.#running < this.#atOnce) this.#running += 1
    else await this.#wait(timeoutMs)
    try {
      return await work()
    } finally {
      const [next] = this.#waiting
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  #wait(timeoutMs: number | null): Promise<void> {
    const turn = Promise.withResolvers<void>()
    const leave = () => {
      clearTimeout(timer)
      this.#waiting.delete(begin)
    }
    const begin = () => {
      leave()
      turn.resolve()
    }
    const giveUp = () => {
      leave()
      turn.reject(new ApiError('unavailable', { message: BUSY, headers: { 'retry-after': '1' } }))
    }
    const timer = timeoutMs === null ? undefined : setTimeout(giveUp, timeoutMs)
    this.#waiting.add(begin)
    return turn.promise
  }
}

/**
 * The time limit of a file's page: a file that was started is not cut off, however long it takes.
 */
export const unlessStarted = (isStarted: boolean): null | undefined =>
  isStarted ? null : undefined

/** Limits calls in all and per owner, so that one owner's many calls do not block another's few. */
export class FairLimiter {
  readonly #limiter: ConcurrencyLimiter
  readonly #each: number
  readonly #timeoutMs: number | null
  readonly #byOwner = new Map<number | string, ConcurrencyLimiter>()

  /** As with ConcurrencyLimiter. The time limit covers both queues together. */
  constructor(
    atOnce: number,
    { each = 1, timeoutMs = null }: { each?: number; timeoutMs?: number | null } = {},
  ) {
    this.#limiter = new ConcurrencyLimiter(atOnce)
    this.#each = each
    this.#timeoutMs = timeoutMs
  }

  run<T>(owner: number | string, work: () => Promise<T>, timeoutMs = this.#timeoutMs): Promise<T> {
    const own = this.#byOwner.getOrInsertComputed(owner, () => new ConcurrencyLimiter(this.#each))
    const askedMs = performance.now()
    const rest = () => timeoutMs && Math.max(0, askedMs + timeoutMs - performance.now())
    return own.run(() => this.#limiter.run(work, rest()), timeoutMs)
  }
}
