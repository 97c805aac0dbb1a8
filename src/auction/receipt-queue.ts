/**
 * Writes receipts in the background, through a bounded queue that no auction waits for. A full
 * queue drops receipts by sampling and counts them. The seal alone explains what is paid, so a lost
 * receipt loses detail and never a cent.
 */
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import { type Database, hasSqlState, UNIQUE_VIOLATION } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

export interface Receipt {
  readonly resultNumber: Buffer
  readonly atMs: number
  readonly pubId: number
  readonly auctionId: string
  readonly merchId: number
  readonly packed: Buffer
}

/** About 40 MB at 2 kB each, and two seconds of a node's maximum. */
const QUEUE_MAX = 20_000
/**
 * Batch size. Larger batches cost less per receipt but come as bursts: under full load on two
 * cores, thousands at once took a core for 40 ms.
 */
const BATCH_MAX = 250
/** The longest delay, so that a recent auction can be explained. */
const FLUSH_MS = 200
/** While the database is down the queue fills and then samples; retries are paced. */
const RETRY_MS = 1_000

export interface ReceiptQueueOptions {
  readonly db: Pick<Database, 'reserve'>
  readonly onDropped: (count: number) => void
  readonly onError: (error: unknown) => void
}

export class ReceiptQueue {
  readonly #options: ReceiptQueueOptions
  #queue: Receipt[] = []
  /** The batch that failed last. It may have been stored, so it is retried unchanged. */
  #unsure: readonly Receipt[] = []
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> = Promise.resolve()
  #isWriting = false
  #isFailing = false

  constructor(options: ReceiptQueueOptions) {
    this.#options = options
  }

  push(receipt: Receipt): void {
    if (this.#queue.length >= QUEUE_MAX) {
      // Drops every second one, so the rest is spread over the whole time.
      this.#queue = this.#queue.filter((_, index) => index % 2 === 0)
      this.#options.onDropped(QUEUE_MAX - this.#queue.length)
    }
    this.#queue.push(receipt)
    if (this.#timer === null || this.#queue.length === BATCH_MAX) this.#schedule()
  }

  /** Writes the queue; resolves when it is written, or could not be. */
  async close(): Promise<void> {
    await this.#writing
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#isFailing = false // One more try, whatever happened before.
    while (this.#isAnyLeft() && !this.#isFailing) await this.#writeBatch()
  }

  #isAnyLeft(): boolean {
    return this.#queue.length + this.#unsure.length > 0
  }

  #schedule(): void {
    if (this.#isWriting) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    const isFull = this.#queue.length >= BATCH_MAX
    const delayMs = this.#isFailing ? RETRY_MS : isFull ? 0 : FLUSH_MS
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#writing = this.#drain()
    }, delayMs)
  }

  async #drain(): Promise<void> {
    this.#isWriting = true
    do await this.#writeBatch()
    while (!this.#isFailing && this.#queue.length >= BATCH_MAX)
    this.#isWriting = false
    if (this.#isAnyLeft()) this.#schedule()
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#unsure.length > 0 ? this.#unsure : this.#queue.splice(0, BATCH_MAX)
    this.#unsure = []
    this.#isFailing = false
    try {
      await insertReceipts(this.#options.db, batch)
    } catch (error) {
      // The commit succeeded and only its confirmation was lost.
      if (hasSqlState(error, UNIQUE_VIOLATION)) return
      this.#unsure = batch
      this.#isFailing = true
      this.#options.onError(error)
    }
  }
}

/**
 * Receipts are not facts of the log, so they do not wait for the disk. Binary COPY, because at two
 * kilobytes each their text form would cost more than the auctions.
 */
async function insertReceipts(
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
/** Everything but `packed`: the count, six lengths, 16 + 8 + 4 + 8 + 4 bytes. */
const FIXED_BYTES = 2 + COLUMNS * 4 + 40

/** All rows in one buffer: a thousand small ones cost each auction 2 µs. */
function copyData(receipts: readonly Receipt[]): Buffer {
  const packedBytes = receipts.reduce((sum, { packed }) => sum + packed.length, 0)
  const bytes = receipts.length * FIXED_BYTES + packedBytes + COPY_HEAD.length + COPY_END.length
  const data = Buffer.allocUnsafe(bytes)
  let at = COPY_HEAD.copy(data)
  for (const receipt of receipts) at = writeCopyRow(data, receipt, at)
  COPY_END.copy(data, at)
  return data
}

/** Returns where the next row starts. */
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
