/** Writes a process's auction totals every few seconds, each batch once. */
import type { NodeIdentity } from '../platform/postgres/node-registry.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { AuctionTotals, type CountedAuction, type Total } from './auction-totals.ts'
import { addAuctionTotals } from './auction-totals-store.ts'

/** Figures of today lag by so much; a killed process loses as much of them. */
const FLUSH_MS = 2_000

export interface AuctionTotalsOptions {
  readonly db: Db
  readonly identity: NodeIdentity
  readonly onError: (error: unknown) => void
}

export class AuctionTotalsLoop {
  readonly #options: AuctionTotalsOptions
  readonly #totals = new AuctionTotals()
  /** The batch that failed last. It may have been stored, so it is repeated under its number. */
  #unsure: readonly Total[] = []
  #batch = 0
  #flushing: Promise<void> = Promise.resolve()
  #isFlushing = false
  readonly #timer: NodeJS.Timeout

  constructor(options: AuctionTotalsOptions) {
    this.#options = options
    this.#timer = setInterval(() => {
      if (!this.#isFlushing) this.#flushing = this.#flush()
    }, FLUSH_MS).unref()
  }

  count(auction: CountedAuction): void {
    this.#totals.add(auction)
  }

  /** Writes what is left; resolves when it is written, or could not be. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#flushing
    await this.#flush()
    if (this.#unsure.length === 0) await this.#flush()
  }

  async #flush(): Promise<void> {
    this.#isFlushing = true
    const { db, identity, onError } = this.#options
    const isRepeated = this.#unsure.length > 0
    const totals = isRepeated ? this.#unsure : this.#totals.take()
    if (totals.length > 0) {
      if (!isRepeated) this.#batch += 1
      try {
        await addAuctionTotals(db, { ...identity, batch: this.#batch, totals })
        this.#unsure = []
      } catch (error) {
        this.#unsure = totals
        onError(error)
      }
    }
    this.#isFlushing = false
  }
}
