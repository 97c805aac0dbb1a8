/**
 * Work of which one round is done at a time. Whoever asks during a round shares the next one, which
 * so sees all that was there when it was asked for.
 */
export class Rounds {
  readonly #work: () => Promise<void>
  #last: Promise<void> = Promise.resolve() // the round begun last
  #next: Promise<void> | null = null // begins when that has ended

  /** `work` must not reject: nobody may be waiting for a round. */
  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  /** Resolves when a round that begins from now on has ended. */
  ask(): Promise<void> {
    this.#next ??= this.#last.then(() => {
      this.#next = null
      this.#last = this.#work()
      return this.#last
    })
    return this.#next
  }

  /** Resolves when all that was asked for by now is done. */
  ended(): Promise<void> {
    return this.#next ?? this.#last
  }
}
