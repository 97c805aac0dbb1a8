/**
 * Detects jumps of the wall clock (set by hand, or a sleeping machine) by comparing it with a
 * monotonic clock.
 */
export class ClockSteps {
  readonly #now: () => number
  readonly #monotonic: () => number
  #offsetMs: number

  constructor(now: () => number, monotonic: () => number = () => performance.now()) {
    this.#now = now
    this.#monotonic = monotonic
    this.#offsetMs = now() - monotonic()
  }

  /** How far the wall clock jumped since the last call, in milliseconds; negative means back. */
  take(): number {
    const offsetMs = this.#now() - this.#monotonic()
    const jumpMs = offsetMs - this.#offsetMs
    this.#offsetMs = offsetMs
    return jumpMs
  }
}
