/**
 * The results whose price a click has reserved on this node.
 *
 * A result is paid once (I4), so a second click of it needs nothing of the budget. Without this,
 * one address sent again and again would hold its price back each time until the fold gives it
 * back, and hide a small campaign from readers. Best effort: what there is no room for, or what
 * another node reserved, the fold finds.
 */
import { LRUCache } from 'lru-cache'

/** Some minutes of clicks of a busy node, in about 3 MB. */
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
