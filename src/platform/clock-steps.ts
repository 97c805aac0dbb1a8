/**
 * Notices when the wall clock is set, or goes on after the machine slept: it is compared with one
 * that never jumps.
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

  /** How far the wall clock has jumped since it was last asked, ahead or (below 0) back. */
  take(): number {
    const offsetMs = this.#now() - this.#monotonic()
    const jumpMs = offsetMs - this.#offsetMs
    this.#offsetMs = offsetMs
    return jumpMs
  }
}
