/**
 * Work that several ask for at the same moment, done once for all of them.
 *
 * Nothing is kept: who comes after it has ended starts it anew.
 */
export class SharedWork<T> {
  readonly #underWay = new Map<string, Promise<T>>()

  /** What the work under way for `key` comes to; without any, `work` is begun. */
  run(key: string, work: () => Promise<T>): Promise<T> {
    return this.#underWay.getOrInsertComputed(key, () =>
      work().finally(() => this.#underWay.delete(key)),
    )
  }
}
