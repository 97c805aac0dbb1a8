/** What is still to happen, in the order of its times. */

interface Timed {
  readonly atMs: number
}

export class Agenda<T extends Timed> {
  /** The latest first, so that the next one is taken from the end. */
  #waiting: T[] = []

  /** Of two at the same time, the one that was added first comes first. */
  add(moments: readonly T[]): void {
    if (moments.length === 0) return
    const all = [...this.#waiting.toReversed(), ...moments]
    this.#waiting = all.toSorted((one, other) => one.atMs - other.atMs).reverse()
  }

  addOne(moment: T): void {
    let [low, high] = [0, this.#waiting.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const isLater = (this.#waiting[middle]?.atMs ?? 0) > moment.atMs
      if (isLater) low = middle + 1
      else high = middle
    }
    this.#waiting.splice(low, 0, moment)
  }

  /** The next one before a time; null if there is none. */
  takeBefore(endMs: number): T | null {
    const next = this.#waiting.at(-1)
    if (next === undefined || next.atMs >= endMs) return null
    this.#waiting.pop()
    return next
  }
}
