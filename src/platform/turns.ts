/**
 * Work that is done a few at a time, in the order in which it was asked for.
 *
 * For what keeps a core busy: more of it at once would not be done sooner, only hold more
 * connections, and keep everybody waiting for the slowest.
 */
export class Turns {
  readonly #atOnce: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    // The one who ends hands its place over, so nobody can slip in between.
    if (this.#running < this.#atOnce) this.#running += 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}
