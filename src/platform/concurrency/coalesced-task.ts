/**
 * Runs a task one run at a time. Requests during a run share the next run, which then sees
 * everything that was there when it was requested.
 */
export class CoalescedTask {
  readonly #work: () => Promise<void>
  #last: Promise<void> = Promise.resolve() // The current or last run.
  #next: Promise<void> | null = null // Starts when the current run has ended.

  /** `work` must not reject, because nobody may be waiting for it. */
  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  /** Resolves when a run that starts after this call has ended. */
  ask(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = null
      this.#last = this.#work()
      return this.#last
    })
    return this.#next
  }

  /** Resolves when everything requested so far is done. */
  ended(): Promise<void> {
    return this.#next ?? this.#last
  }
}
