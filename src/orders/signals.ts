/** Notes when a merchant's tag or server reports something, without a write for each report. */
import { LRUCache } from 'lru-cache'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Signal, writeSignal } from './signal-store.ts'

/** A merchant looks whether its tag works at all, so a minute is exact enough. */
const WRITTEN_EVERY_MS = 60_000
const MERCHANTS_MAX = 10_000

export class Signals {
  readonly #db: Db
  readonly #onError: (error: unknown) => void
  readonly #writtenAtMs = new LRUCache<string, number>({ max: MERCHANTS_MAX })

  constructor(db: Db, onError: (error: unknown) => void) {
    this.#db = db
    this.#onError = onError
  }

  /** The sender of a report does not wait for it, and does not fail with it. */
  note(merchId: number, kind: Signal, atMs: number): void {
    const name = `${kind} ${merchId}`
    if (atMs - (this.#writtenAtMs.get(name) ?? Number.NEGATIVE_INFINITY) < WRITTEN_EVERY_MS) return
    this.#writtenAtMs.set(name, atMs)
    const signal = { merchId, kind, at: new Date(atMs) }
    writeSignal(this.#db, signal).catch((error) => {
      this.#writtenAtMs.delete(name)
      this.#onError(error)
    })
  }
}
