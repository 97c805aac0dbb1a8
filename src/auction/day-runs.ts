/** A publisher's auctions of a day, handed to whoever runs them again. */
import { setImmediate as turn } from 'node:timers/promises'
import type { Fault } from '../platform/errors.ts'
import type { Db } from '../platform/postgres.ts'
import { parseTimestamp } from '../platform/timestamp.ts'
import { FairTurns } from '../platform/turns.ts'
import { unpackReceipt } from './receipt.ts'
import { countReceipts, type PublisherDay, receiptsOfPublisher } from './receipt-store.ts'
import type { LoggedAuction } from './what-if.ts'

/**
 * Who runs a day's auctions again computes in slices that readers' redirects wait for: a hundred at
 * once, which one key may ask for, would make them wait for a hundred slices.
 */
const DAYS_AT_ONCE = 2
/**
 * A day of a million auctions takes minutes. Who gives up and asks again leaves the first work to
 * be done: without an end to their waiting, more and more that nobody reads would come before it.
 */
const TURN_PATIENCE_MS = 30_000
/** Some 3 ms of computing, which readers' redirects then wait for (measured with 30 candidates). */
const AUCTIONS_PER_TURN = 50

/** What is told each auction. */
interface DayRun {
  add(logged: LoggedAuction): void
}

export class DayRuns {
  readonly #db: Db
  readonly #turns = new FairTurns(DAYS_AT_ONCE, { patienceMs: TURN_PATIENCE_MS })

  constructor(db: Db) {
    this.#db = db
  }

  /** All auctions, while other requests are served. Rejects with a 503 when too many days wait. */
  run<Run extends DayRun>(wanted: PublisherDay, run: Run): Promise<Run> {
    return this.#turns.run(wanted.pubId, async () => {
      await this.#hand(wanted, run)
      return run
    })
  }

  /** Likewise of very many an even sample, of about `auctionsMax`; how many the day has. */
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

/** What a schema of digits cannot say: there is no 30 February. */
export function dayFaults({ date }: { date?: unknown }): Fault[] {
  const isDay = typeof date === 'string' && parseTimestamp(date) !== null
  return isDay ? [] : [{ field: 'date', rule: 'must be a day, YYYY-MM-DD' }]
}
