/**
 * Writes the chunks of an import over several connections at once.
 *
 * Chunks are separate transactions without shared offers, so their order does not matter. Filling
 * five indexes takes one PostgreSQL backend three times as long as reading the feed; two of them
 * use a second core.
 */
import type { ReservedDb } from '../../platform/postgres/postgres.ts'
import { type OfferChunk, writeChunk } from './offer-store.ts'

export class ChunkWriters {
  readonly #of: { readonly merchId: number; readonly generation: number }
  readonly #idle: ReservedDb[]
  readonly #writing = new Set<Promise<void>>()
  #failure: { readonly error: unknown } | null = null

  /** Uses the connections exclusively from the first chunk until `written`. */
  constructor(
    connections: readonly ReservedDb[],
    of: { readonly merchId: number; readonly generation: number },
  ) {
    this.#idle = [...connections]
    this.#of = of
  }

  /** Resolves when the chunk is being written; rejects with the failure of an earlier one. */
  async send(chunk: OfferChunk): Promise<void> {
    while (this.#idle.length === 0 && this.#failure === null) await Promise.race(this.#writing)
    if (this.#failure !== null) throw this.#failure.error
    const db = this.#idle.pop()
    if (db === undefined) throw new Error('no connection is idle')
    const writing = writeChunk(db, { ...this.#of, chunk })
      .then(
        () => void this.#idle.push(db),
        (error: unknown) => {
          this.#failure ??= { error }
        },
      )
      .finally(() => this.#writing.delete(writing))
    this.#writing.add(writing)
  }

  /** Resolves when all chunks are written; rejects with the first failure. */
  async written(): Promise<void> {
    await Promise.all(this.#writing)
    if (this.#failure !== null) throw this.#failure.error
  }
}
