/**
 * Work that is done a few at a time, in the order in which it was asked for.
 *
 * For what keeps a core or the database busy: more of it at once would not be done sooner, only
 * hold more connections, and keep everybody waiting for the slowest.
 */
import { ApiError } from './errors.ts'

const BUSY = 'Too many such requests wait; retry shortly'

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
  async run<T>(work: () => Promise<T>): Promise<T> {
    // The one who ends hands its place over, so nobody can slip in between.
    if (this.#running < this.#atOnce) this.#running += 1
    else await this.#wait()
    try {
      return await work()
    } finally {
      const [next] = this.#waiting
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  #wait(): Promise<void> {
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
    const timer = this.#patienceMs === null ? undefined : setTimeout(giveUp, this.#patienceMs)
    this.#waiting.add(begin)
    return turn.promise
  }
}

/** Work of several owners, of each only so much: nobody's many keep another's few waiting. */
export class FairTurns {
  readonly #turns: Turns
  readonly #each: number
  readonly #patience: { patienceMs: number | null }
  readonly #byOwner = new Map<number | string, Turns>()

  /** As with Turns; `patienceMs` holds for the wait among one's own and for that among all. */
  constructor(
    atOnce: number,
    { each = 1, patienceMs = null }: { each?: number; patienceMs?: number | null } = {},
  ) {
    this.#patience = { patienceMs }
    this.#turns = new Turns(atOnce, this.#patience)
    this.#each = each
  }

  run<T>(owner: number | string, work: () => Promise<T>): Promise<T> {
    const own = this.#byOwner.getOrInsertComputed(
      owner,
      () => new Turns(this.#each, this.#patience),
    )
    return own.run(() => this.#turns.run(work))
  }
}
