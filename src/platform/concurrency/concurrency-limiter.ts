/**
 * Limits how many calls run at once; others queue in order of arrival.
 *
 * For work that keeps a core or the database busy. More at once would finish no sooner, hold more
 * connections, and make everybody wait for the slowest.
 */
import { ApiError } from '../errors/api-errors.ts'

const BUSY = 'Too many such requests wait; retry shortly'
/** Shorter than client timeouts, so a retry does not queue behind its own abandoned request. */
export const CLIENT_PATIENCE_MS = 10_000

export class Turns {
  readonly #atOnce: number
  readonly #patienceMs: number | null
  /** In order of arrival. */
  readonly #waiting = new Set<() => void>()
  #running = 0

  /** A call that has waited for `patienceMs` is refused; null: never. */
  constructor(atOnce: number, { patienceMs = null }: { patienceMs?: number | null } = {}) {
    this.#atOnce = atOnce
    this.#patienceMs = patienceMs
  }

  /** Rejects with a 503, without starting the work, when the time limit is over. */
  async run<T>(work: () => Promise<T>, patienceMs = this.#patienceMs): Promise<T> {
    // A finished call passes its slot on, so that no other call can take it in between.
    if (this.#running < this.#atOnce) this.#running += 1
    else await this.#wait(patienceMs)
    try {
      return await work()
    } finally {
      const [next] = this.#waiting
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  #wait(patienceMs: number | null): Promise<void> {
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
    const timer = patienceMs === null ? undefined : setTimeout(giveUp, patienceMs)
    this.#waiting.add(begin)
    return turn.promise
  }
}

/**
 * The time limit of a file's page: a file that was started is not cut off, however long it takes.
 */
export const unlessBegun = (isBegun: boolean): null | undefined => (isBegun ? null : undefined)

/** Limits calls in all and per owner, so that one owner's many calls do not block another's few. */
export class FairTurns {
  readonly #turns: Turns
  readonly #each: number
  readonly #patienceMs: number | null
  readonly #byOwner = new Map<number | string, Turns>()

  /** As with Turns. The time limit covers both queues together. */
  constructor(
    atOnce: number,
    { each = 1, patienceMs = null }: { each?: number; patienceMs?: number | null } = {},
  ) {
    this.#turns = new Turns(atOnce)
    this.#each = each
    this.#patienceMs = patienceMs
  }

  run<T>(
    owner: number | string,
    work: () => Promise<T>,
    patienceMs = this.#patienceMs,
  ): Promise<T> {
    const own = this.#byOwner.getOrInsertComputed(owner, () => new Turns(this.#each))
    const askedMs = performance.now()
    const rest = () => patienceMs && Math.max(0, askedMs + patienceMs - performance.now())
    return own.run(() => this.#turns.run(work, rest()), patienceMs)
  }
}
