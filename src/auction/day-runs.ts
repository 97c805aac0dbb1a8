/** Runs a publisher's auctions of a day again, in slices. */
import { setImmediate as turn } from 'node:timers/promises'
import type { Fault } from '../platform/errors.ts'
import type { Db } from '../platform/postgres.ts'
import { parseTimestamp } from '../platform/timestamp.ts'
import { FairTurns } from '../platform/turns.ts'
import { unpackReceipt } from './receipt.ts'
import { countReceipts, type PublisherDay, receiptsOfPublisher } from './receipt-store.ts'
import type { LoggedAuction } from './what-if.ts'

/**
 * Concurrent days. Each computes in slices that redirects wait for; a hundred at once, which one
 * key may request, would make them wait for a hundred slices.
 */
const DAYS_AT_ONCE = 2
/**
 * A day of a million auctions takes minutes. Requests that clients gave up still run, so without
 * this limit they would pile up ahead of later ones.
 */
const TURN_PATIENCE_MS = 30_000
/** About 3 ms of computing, which redirects then wait for (with 30 candidates). */
const AUCTIONS_PER_TURN = 50

/** Receives each auction. */
interface DayRun {
  add(logged: LoggedAuction): void
}

export class DayRuns {
  readonly #db: Db
  readonly #turns = new FairTurns(DAYS_AT_ONCE, { patienceMs: TURN_PATIENCE_MS })

  constructor(db: Db) {
    this.#db = db
  }

  /**
   * Runs all auctions while other requests are served. Rejects with a 503 if too many days are
   * queued.
   */
  run<Run extends DayRun>(wanted: PublisherDay, run: Run): Promise<Run> {
    return this.#turns.run(wanted.pubId, async () => {
      await this.#hand(wanted, run)
      return run
    })
  }

  /** The same for an even sample of about `auctionsMax`; returns how many auctions the day has. */
  sample(
    { auctionsMax, ...wanted }: PublisherDay & { readonly auctionsMax: number },
    run: DayRun,
  ): Promise<number> {
    return this.#turns.run(wanted.pubId, async () => {
      const held = await countReceipts(this.#db, wanted)
      await this.#hand({ ...wanted, share: Math.min(1, auctionsMax / held) }, run)
      return held
    })
  }

  async #hand(wanted: PublisherDay & { readonly share?: number }, run: DayRun): Promise<void> {
    for await (const receipts of receiptsOfPublisher(this.#db, wanted)) {
      for (const [index, { packed, clicks }] of receipts.entries()) {
        if (index % AUCTIONS_PER_TURN === 0) await turn()
        run.add({ auction: unpackReceipt(packed), clicks })
      }
    }
  }
}

/** Faults beyond the schema's digits, such as 30 February. */
export function dayFaults({ date }: { date?: unknown }): Fault[] {
  const isDay = typeof date === 'string' && parseTimestamp(date) !== null
  return isDay ? [] : [{ field: 'date', rule: 'must be a day, YYYY-MM-DD' }]
}
