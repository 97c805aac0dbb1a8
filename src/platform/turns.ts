/**
 * Work that is done a few at a time, in the order in which it was asked for.
 *
 * For what keeps a core or the database busy: more of it at once would not be done sooner, only
 * hold more connections, and keep everybody waiting for the slowest.
 */
import { ApiError } from './errors.ts'

const BUSY = 'Too many such requests wait; retry shortly'
/** Shorter than clients commonly wait: who has gone, and asks again, is still in the line. */
export const CLIENT_PATIENCE_MS = 10_000

export class Turns {
  readonly #atOnce: number
  readonly #patienceMs: number | null
  /** In the order of asking. */
  readonly #waiting = new Set<() => void>()
  #running = 0

  /** Whoever has waited for `patienceMs` is turned away; null: nobody is. */
  constructor(atOnce: number, { patienceMs = null }: { patienceMs?: number | null } = {}) {
    this.#atOnce = atOnce
    this.#patienceMs = patienceMs
  }

  /** Rejects with a 503, the work not begun, when patience ends. */
  async run<T>(work: () => Promise<T>, patienceMs = this.#patienceMs): Promise<T> {
    // The one who ends hands its place over, so nobody can slip in between.
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

/** The patience of a file's page: a file that is begun is not broken off, however long it takes. */
export const unlessBegun = (isBegun: boolean): null | undefined => (isBegun ? null : undefined)

/** Work of several owners, of each only so much: nobody's many keep another's few waiting. */
export class FairTurns {
  readonly #turns: Turns
  readonly #each: number
  readonly #patienceMs: number | null
  readonly #byOwner = new Map<number | string, Turns>()

  /** As with Turns; patience is for the wait among one's own and for that among all together. */
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
