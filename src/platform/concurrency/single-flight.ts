/**
 * Runs work once for all concurrent callers with the same key.
 *
 * The result is not cached: a call after the end starts the work again.
 */
export class SingleFlight<T> {
  readonly #underWay = new Map<string, Promise<T>>()

  /** The result of the running work for `key`; starts `work` if none is running. */
  run(key: string, work: () => Promise<T>): Promise<T> {
    return this.#underWay.getOrInsertComputed(key, () =>
      work().finally(() => this.#underWay.delete(key)),
    )
  }
}
