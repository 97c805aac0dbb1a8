/** Runs one day of a publisher's auctions again, away from the thread that answers readers. */
import { parentPort, workerData } from 'node:worker_threads'
import { type Connection, openDatabase } from '../platform/postgres/postgres.ts'
import { type DayReports, type DayRun, startDayRun } from './day-run.ts'
import { discloseToPublisher } from './disclose.ts'
import { unpackReceipt } from './receipt.ts'
import { countReceipts, type PublisherDay, receiptsOfPublisher } from './receipt-store.ts'

/** What the thread is given. */
export interface DayOrder {
  readonly connection: Connection
  readonly wanted: PublisherDay
  readonly run: DayRun
  /** Of a day with more, about this many; null: all. */
  readonly auctionsMax: number | null
}

/** What the thread says: how far it is, and at its end the report. */
export type DayMessage =
  | { readonly kind: 'progress'; readonly auctions: number; readonly done: number }
  | { readonly kind: 'report'; readonly report: DayReports[keyof DayReports] }

const { connection, wanted, run, auctionsMax } = workerData as DayOrder
const say = (message: DayMessage) => parentPort?.postMessage(message)

const db = openDatabase({ connection, applicationName: 'souk: a day again', connectionsMax: 1 })
try {
  const auctions = await countReceipts(db, wanted)
  say({ kind: 'progress', auctions, done: 0 })
  const share = auctionsMax === null ? 1 : Math.min(1, auctionsMax / Math.max(1, auctions))
  const runner = startDayRun(run, auctions)
  let done = 0
  for await (const receipts of receiptsOfPublisher(db, { ...wanted, share })) {
    for (const { packed, auction_id: auctionId, clicks } of receipts) {
      // Figures for a publisher must not reveal the bids that its receipts hide.
      const { auction } = discloseToPublisher(unpackReceipt(packed))
      runner.add({ auction, auctionId, clicks })
    }
    done += receipts.length
    say({ kind: 'progress', auctions, done })
  }
  say({ kind: 'report', report: runner.report() })
} finally {
  await db.close()
}
