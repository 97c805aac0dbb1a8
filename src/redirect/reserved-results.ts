/**
 * Remembers the results whose price a click has reserved on this node.
 *
 * A result is paid once (I4), so a second click needs no reservation. Otherwise someone could send
 * one URL repeatedly, hold a reservation each time until the fold releases it, and hide a small
 * campaign from readers. Best effort: the fold finds repeats that another node reserved or that
 * were evicted here.
 */
import { LRUCache } from 'lru-cache'

/** Some minutes of clicks on a busy node, in about 3 MB. */
const RESULTS_MAX = 20_000

export class ReservedResults {
  readonly #held = new LRUCache<string, true>({ max: RESULTS_MAX })

  has(resultNumber: Buffer): boolean {
    return this.#held.has(resultNumber.toString('latin1'))
  }

  add(resultNumber: Buffer): void {
    this.#held.set(resultNumber.toString('latin1'), true)
  }

  delete(resultNumber: Buffer): void {
    this.#held.delete(resultNumber.toString('latin1'))
  }
}
