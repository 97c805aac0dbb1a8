/**
 * Receipts on their way to the database: in the background, through a bounded queue that no
 * auction ever waits for. When it is full, receipts are dropped by sampling and counted: what is
 * paid is explained by the seal alone, so a lost receipt loses detail and never a cent.
 */
import type { Db } from '../platform/postgres.ts'
import { prepared, sql } from '../platform/sql.ts'

export interface Receipt {
  readonly resultNumber: Buffer
  readonly atMs: number
  readonly pubId: number
  readonly auctionId: string
  readonly merchId: number
  readonly packed: Buffer
}

/** Some 40 MB at 2 kB each, and about two seconds of the most a node auctions. */
const QUEUE_MAX = 20_000
const BATCH_MAX = 1_000
const FLUSH_MS = 200
/** While the database is away the queue fills and then samples; it is not tried in a tight loop. */
const RETRY_MS = 1_000

export interface ReceiptQueueOptions {
  readonly db: Db
  readonly onDropped: (count: number) => void
  readonly onError: (error: unknown) => void
}

export class ReceiptQueue {
  readonly #options: ReceiptQueueOptions
  #queue: Receipt[] = []
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> = Promise.resolve()
  #isWriting = false

  constructor(options: ReceiptQueueOptions) {
    this.#options = options
  }

  push(receipt: Receipt): void {
    if (this.#queue.length >= QUEUE_MAX) {
      // Every second one that waits: what remains is still spread over the whole time.
      this.#queue = this.#queue.filter((_, index) => index % 2 === 0)
      this.#options.onDropped(QUEUE_MAX - this.#queue.length)
    }
    this.#queue.push(receipt)
    this.#schedule(FLUSH_MS)
  }

  /** Writes what is queued; resolves when it is written, or could not be. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    await this.#writing
    while (this.#queue.length > 0 && (await this.#writeBatch()));
  }

  #schedule(delayMs: number): void {
    if (this.#timer !== null || this.#isWriting) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#writing = this.#drain()
    }, delayMs)
  }

  async #drain(): Promise<void> {
    this.#isWriting = true
    let isWritten = true
    while (isWritten && this.#queue.length > 0) isWritten = await this.#writeBatch()
    this.#isWriting = false
    if (this.#queue.length > 0) this.#schedule(RETRY_MS)
  }

  async #writeBatch(): Promise<boolean> {
    const batch = this.#queue.splice(0, BATCH_MAX)
    try {
      await insertReceipts(this.#options.db, batch)
      return true
    } catch (error) {
      this.#queue.unshift(...batch.slice(0, QUEUE_MAX - this.#queue.length))
      this.#options.onError(error)
      return false
    }
  }
}

/** Receipts are no facts of the log: written without waiting for the disk. */
export function insertReceipts(db: Db, receipts: readonly Receipt[]): Promise<number> {
  const column = <T>(read: (receipt: Receipt) => T): T[] => receipts.map(read)
  return db.transaction(async (tx) => {
    await tx.run(sql`set local synchronous_commit = off`)
    return tx.run(
      prepared(
        'insert_receipts',
        sql`
      insert into receipt (result_number, at, pub_id, auction_id, merch_id, packed)
      select * from unnest(
        ${column(({ resultNumber }) => resultNumber)}::bytea[],
        ${column(({ atMs }) => new Date(atMs))}::timestamptz[],
        ${column(({ pubId }) => pubId)}::int[],
        ${column(({ auctionId }) => auctionId)}::bigint[],
        ${column(({ merchId }) => merchId)}::int[],
        ${column(({ packed }) => packed)}::bytea[])
      on conflict do nothing`,
      ),
    )
  })
}
