/**
 * Receipts on their way to the database: in the background, through a bounded queue that no
 * auction ever waits for. When it is full, receipts are dropped by sampling and counted: what is
 * paid is explained by the seal alone, so a lost receipt loses detail and never a cent.
 */
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import type { Database } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

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
  readonly db: Pick<Database, 'reserve'>
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

/**
 * Receipts are no facts of the log: written without waiting for the disk. By binary COPY, because
 * at two kilobytes each their text form would cost more than the auctions they explain.
 */
export async function insertReceipts(
  database: Pick<Database, 'reserve'>,
  receipts: readonly Receipt[],
): Promise<void> {
  const reserved = await database.reserve()
  try {
    await reserved.transaction(async (tx) => {
      await tx.run(sql`set local synchronous_commit = off`)
      const copy = reserved.client.query(
        copyFrom(
          `copy receipt (result_number, at, pub_id, auction_id, merch_id, packed)
          from stdin (format binary)`,
        ),
      )
      await pipeline([copyData(receipts)], copy)
    })
    reserved.release()
  } catch (error) {
    reserved.release(error as Error)
    throw error
  }
}

const COPY_HEAD = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const COPY_END = Buffer.from([0xff, 0xff])
/** PostgreSQL counts microseconds from 2000. */
const EPOCH_MS = Date.UTC(2000, 0, 1)
const COLUMNS = 6
/** Of everything but `packed`: the count, six lengths, 16 + 8 + 4 + 8 + 4 bytes. */
const FIXED_BYTES = 2 + COLUMNS * 4 + 40

/** All rows in one buffer: as a thousand small ones they cost each auction 2 µs on their way. */
function copyData(receipts: readonly Receipt[]): Buffer {
  const packedBytes = receipts.reduce((sum, { packed }) => sum + packed.length, 0)
  const bytes = receipts.length * FIXED_BYTES + packedBytes + COPY_HEAD.length + COPY_END.length
  const data = Buffer.allocUnsafe(bytes)
  let at = COPY_HEAD.copy(data)
  for (const receipt of receipts) at = writeCopyRow(data, receipt, at)
  COPY_END.copy(data, at)
  return data
}

/** Returns where the next row begins. */
function writeCopyRow(data: Buffer, receipt: Receipt, start: number): number {
  const { resultNumber, atMs, pubId, auctionId, merchId, packed } = receipt
  let at = data.writeInt16BE(COLUMNS, start)
  at = data.writeInt32BE(16, at)
  at += resultNumber.copy(data, at)
  at = data.writeBigInt64BE(BigInt(atMs - EPOCH_MS) * 1000n, data.writeInt32BE(8, at))
  at = data.writeInt32BE(pubId, data.writeInt32BE(4, at))
  at = data.writeBigInt64BE(BigInt(auctionId), data.writeInt32BE(8, at))
  at = data.writeInt32BE(merchId, data.writeInt32BE(4, at))
  at = data.writeInt32BE(packed.length, at)
  return at + packed.copy(data, at)
}
