/**
 * Imports a product feed: upserts new and changed offers, retires missing ones, and counts each
 * rejected row with its reason.
 *
 * One pass over the feed. Each row is checked (check-offer.ts), compared with the stored offer
 * (sku-index.ts), and only differences are written, in committed chunks of an invisible generation
 * (offer-store.ts). So the same feed again writes nothing, a failure changes nothing, and memory
 * holds three chunks and 40 to 75 bytes an id.
 */
import { hash } from 'node:crypto'
import type { Database, ReservedDb } from '../../platform/postgres/postgres.ts'
import {
  checkOffer,
  type Note,
  type OfferJudgement,
  onlyDollars,
  type RejectReason,
  skuOf,
  type ToDollars,
} from './check-offer.ts'
import { ChunkWriters } from './chunk-writers.ts'
import type { FeedFields, FeedMap, FoundColumn } from './feed-columns.ts'
import { CURRENCY_SAMPLE_ROWS, feedCurrency } from './feed-currency.ts'
import type { FeedEntry } from './feed-entry.ts'
import { FeedError } from './feed-error.ts'
import type { FeedFile } from './feed-file.ts'
import type { FeedFormat } from './feed-format.ts'
import { hasGoodRow, type ImportResult } from './import-result.ts'
import { Chunk } from './offer-chunk.ts'
import {
  analyzeOffers,
  cleanLeftovers,
  deleteEnded,
  eachStoredOffer,
  type FeedOwner,
  findFeedOwner,
  lockMerchantFeed,
  markImport,
  offerText,
  switchGeneration,
  touchMerchantFeed,
  unlockMerchantFeed,
  unmarkImport,
} from './offer-store.ts'
import { readFeed } from './read-feed.ts'
import { SkuIndex } from './sku-index.ts'

export interface RejectedRow {
  readonly line: number
  readonly reason: RejectReason
  readonly detail: string
  /** The row's content, as far as it is readable. */
  readonly row: FeedFields | string
}

export interface ImportProgress {
  readonly rows: number
  /** Bytes of the feed's file, packed or not. */
  readonly bytes: number
  readonly totalBytes: number
}

export interface ImportOptions {
  readonly merchId: number
  readonly file: FeedFile
  readonly format: FeedFormat
  readonly map?: FeedMap | null
  readonly element?: string | null
  /** The currency of prices without one; if missing, the merchant's, else the feed's. */
  readonly currency?: string | null
  /** The charset that the feed's server named. */
  readonly servedAs?: string | undefined
  /** Today, for sale prices between two dates. */
  readonly at: Date
  /** By today's exchange rates; without any, rows in other currencies are rejected. */
  readonly toDollars?: ToDollars
  /** A random 32-bit number, see sku-index.ts. */
  readonly seed: number
  /** Called with rejected rows, some at a time; a promise pauses the import until it settles. */
  readonly onRejects?: (rows: readonly RejectedRow[]) => void | Promise<void>
  /** Called with the names of the feed's columns, also if the feed is refused for them. */
  readonly onColumns?: (columns: readonly FoundColumn[]) => void
  /** Judges every row and changes nothing. */
  readonly isDryRun?: boolean
  /** Rows written in one transaction; only tests need another number. */
  readonly chunkRows?: number
  /** The import aborts when reading takes longer; without it, there is no limit. */
  readonly readMsMax?: number
  /** Called once per piece of the feed that was read. */
  readonly onProgress?: (progress: ImportProgress) => void
}

/** Bounds the words, because a column of other text would give millions. */
const NOTED_VALUES_MAX = 50
const OTHER_VALUES = 'others'
const DOLLAR = 'USD'

const CHUNK_ROWS = 20_000 // About 8 MB; one fills while the writers have one each.
const WRITERS = 2 // With more, reading the feed would be the bottleneck.
const ROWS_MAX = 20_000_000 // 1.5 GB of ids; the largest feeds known have ten million rows.
/** From this many changed rows on, the table is analysed at once for the planner. */
const ANALYZE_ROWS = 10_000

/**
 * Imports one feed for one merchant.
 *
 * Throws FeedError when the merchant is unknown, another import of it runs, or the file is not a
 * feed; other errors are faults of the database or the file. In each case readers see the earlier
 * offers.
 */
export async function importFeed(db: Database, options: ImportOptions): Promise<ImportResult> {
  const { merchId } = options
  const connections: ReservedDb[] = []
  try {
    for (let writer = 0; writer < WRITERS; writer++) {
      const connection = await db.reserve()
      connections.push(connection)
      if (!(await lockMerchantFeed(connection, { merchId, writer }))) {
        throw new FeedError(`a feed of merchant ${merchId} is being imported; try again later`)
      }
    }
    return await importLocked(connections as [ReservedDb, ...ReservedDb[]], options)
  } finally {
    for (const [writer, connection] of connections.entries()) {
      // A connection that cannot be unlocked is closed, and the lock goes with it.
      const unlocked = unlockMerchantFeed(connection, { merchId, writer })
      const broken = await unlocked.catch((error: Error) => error)
      connection.release(broken ?? undefined)
    }
  }
}

async function importLocked(
  connections: readonly [ReservedDb, ...ReservedDb[]],
  options: ImportOptions,
): Promise<ImportResult> {
  const { merchId } = options
  const [db] = connections
  const owner = await findFeedOwner(db, merchId)
  if (owner === null) throw new FeedError(`no merchant ${merchId}`)
  const { generation, has_leftovers } = owner
  if (has_leftovers) {
    await cleanLeftovers(db, { merchId, generation })
    await unmarkImport(db, merchId)
  }
  return await new FeedImport(connections, owner, options).run()
}

const tooSlow = ({ rows }: ImportResult) =>
  new FeedError(`reading it took too long and was aborted after ${rows} rows; nothing was changed`)

/** One import from its first row to its switch. */
class FeedImport {
  readonly #db: ReservedDb
  readonly #owner: FeedOwner
  readonly #options: ImportOptions
  readonly #skus: SkuIndex
  readonly #chunkRows: number
  readonly #result: ImportResult = {
    rows: 0,
    offers_upserted: 0,
    offers_removed: 0,
    offers_unchanged: 0,
    rejected: {},
    first_rejected: {},
    notes: {},
    noted: {},
    truncated: false,
    read_whole: true,
  }
  #currency: string | null = null
  #rejects: RejectedRow[] = []
  #chunk = new Chunk()
  readonly #writers: ChunkWriters
  #isMarked = false
  /** Offers with a version that ends with this import. */
  readonly #endedOfferIds: number[] = []

  constructor(
    connections: readonly [ReservedDb, ...ReservedDb[]],
    owner: FeedOwner,
    options: ImportOptions,
  ) {
    const { merchId } = options
    this.#db = connections[0]
    this.#owner = owner
    this.#options = options
    this.#writers = new ChunkWriters(connections, { merchId, generation: owner.generation + 1 })
    this.#skus = new SkuIndex(options.seed)
    this.#chunkRows = options.chunkRows ?? CHUNK_ROWS
  }

  async run(): Promise<ImportResult> {
    await eachStoredOffer(this.#db, this.#options.merchId, (offers) => {
      for (const { sku, offer_id, content_hash } of offers) {
        this.#skus.addStored({ sku, offerId: Number(offer_id), contentHash: content_hash })
      }
    })
    try {
      await this.#read()
      await this.#retireVanished()
      await this.#flush()
    } finally {
      // The connections are in use until all writes have ended, with or without success.
      await Promise.allSettled([this.#writers.written()])
    }
    await this.#writers.written()
    await this.#show()
    return this.#result
  }

  /** Reads the feed; the first rows wait until they have shown its currency. */
  async #read(): Promise<void> {
    const { file, readMsMax = Number.POSITIVE_INFINITY } = this.#options
    const reading = readFeed(file.bytes(), this.#options)
    const startedMs = performance.now()
    let waiting: FeedEntry[] = []
    for await (const entries of reading.entries()) {
      if (performance.now() - startedMs > readMsMax) throw tooSlow(this.#result)
      if (this.#currency === null) {
        waiting = waiting.concat(entries)
        if (waiting.length >= CURRENCY_SAMPLE_ROWS) {
          await this.#takeFirst(waiting)
          waiting = []
        }
      } else await this.#take(entries, this.#currency)
      this.#reportProgress()
    }
    if (this.#currency === null) await this.#takeFirst(waiting)
    this.#reportProgress()
    // Most likely not a feed, rather than an empty one: an import would retire every offer.
    if (this.#result.rows === 0) throw new FeedError('the feed has no rows; nothing was changed')
    this.#result.truncated = reading.isCut || file.isCut
    if (this.#result.truncated) this.#result.read_whole = false
  }

  #reportProgress(): void {
    const { file, onProgress } = this.#options
    const { readBytes: bytes, totalBytes } = file
    onProgress?.({ rows: this.#result.rows, bytes, totalBytes })
  }

  async #takeFirst(entries: readonly FeedEntry[]): Promise<void> {
    const named = this.#options.currency ?? this.#owner.default_currency
    this.#currency = named ?? feedCurrency(entries, DOLLAR)
    await this.#take(entries, this.#currency)
  }

  async #take(entries: readonly FeedEntry[], currency: string): Promise<void> {
    const { domains } = this.#owner
    const { at, toDollars = onlyDollars } = this.#options
    const isCurrencyAssumed = !this.#options.currency && this.#owner.default_currency === null
    const context = { domains, currency, isCurrencyAssumed, atMs: at.getTime(), toDollars }
    for (const entry of entries) {
      this.#result.rows++
      if (this.#result.rows > ROWS_MAX) throw new FeedError(`more than ${ROWS_MAX} rows`)
      const { line } = entry
      if (entry.kind === 'bad') {
        this.#reject({ line, reason: entry.reason, detail: entry.detail, row: entry.text })
        // Its offer is neither renewed nor retired; without an id, no offer is retired.
        if (entry.id === null) this.#result.read_whole = false
        else this.#skus.keep(skuOf(entry.id))
        continue
      }
      const row = entry.fields
      const judgement = checkOffer(row, context)
      if (judgement.kind === 'offer') this.#add(judgement, line, row)
      else this.#reject({ line, reason: judgement.reason, detail: judgement.detail, row })
      if (this.#chunk.rows >= this.#chunkRows) await this.#flush()
    }
    if (this.#rejects.length > 0) await this.#options.onRejects?.(this.#rejects)
    this.#rejects = []
  }

  #reject(row: RejectedRow): void {
    const { rejected, first_rejected: first } = this.#result
    rejected[row.reason] = (rejected[row.reason] ?? 0) + 1
    first[row.reason] ??= `line ${row.line}: ${row.detail}`
    this.#rejects.push(row)
  }

  #add({ offer, notes }: Accepted, line: number, row: FeedFields): void {
    const content = offerText(offer)
    const contentHash = hash('sha256', content, 'hex').slice(0, CONTENT_HASH_DIGITS)
    const encounter = this.#skus.meet(offer.sku, contentHash)
    if (encounter.kind === 'duplicate') {
      const detail = 'an earlier row has this id'
      this.#reject({ line, reason: 'duplicate_id', detail, row })
      return
    }
    for (const note of notes) this.#note(note)
    if (encounter.kind === 'same') {
      this.#result.offers_unchanged++
      return
    }
    this.#result.offers_upserted++
    const prefix = `${this.#options.merchId}\t${this.#owner.generation + 1}\t`
    const text = `${prefix}${content}\t\\\\x${contentHash}`
    if (encounter.kind === 'new') this.#chunk.add(`${text}\n`)
    else {
      this.#chunk.change(`${text}\t${encounter.offerId}\n`)
      this.#end(encounter.offerId)
    }
  }

  #note({ note, value }: Note): void {
    const { notes, noted } = this.#result
    notes[note] = (notes[note] ?? 0) + 1
    if (value === undefined) return
    const counts = noted[note] ?? {}
    noted[note] = counts
    const isFull = Object.keys(counts).length >= NOTED_VALUES_MAX
    const key = isFull && counts[value] === undefined ? OTHER_VALUES : value
    counts[key] = (counts[key] ?? 0) + 1
  }

  #end(offerId: number): void {
    this.#chunk.end(offerId)
    this.#endedOfferIds.push(offerId)
  }

  /** Retires offers that the feed no longer has, unless the feed itself is in doubt. */
  async #retireVanished(): Promise<void> {
    // Not one valid row: more likely another merchant's feed than an empty shop.
    if (!this.#result.read_whole || !hasGoodRow(this.#result)) return
    for (const offerId of this.#skus.unseen()) {
      this.#end(offerId)
      this.#result.offers_removed++
      if (this.#chunk.rows >= this.#chunkRows) await this.#flush()
    }
  }

  /** Starts writing the chunk and continues without waiting for it. */
  async #flush(): Promise<void> {
    if (this.#chunk.rows === 0) return
    const chunk = this.#chunk
    this.#chunk = new Chunk()
    if (this.#options.isDryRun) return
    if (!this.#isMarked) await markImport(this.#db, this.#options.merchId)
    this.#isMarked = true
    await this.#writers.send(chunk.finish())
  }

  async #show(): Promise<void> {
    const { merchId, isDryRun = false } = this.#options
    const { generation } = this.#owner
    if (isDryRun) return
    if (!this.#isMarked) {
      // A feed without a valid row confirms no offer's price.
      if (hasGoodRow(this.#result)) await touchMerchantFeed(this.#db, merchId)
      return
    }
    await switchGeneration(this.#db, { merchId, from: generation })
    // From here on the import is done. A later failure leaves a mark, and the next import finishes
    // the work.
    await this.#tidy(generation + 1).catch(() => undefined)
  }

  async #tidy(generation: number): Promise<void> {
    const { merchId } = this.#options
    await deleteEnded(this.#db, { merchId, upTo: generation, offerIds: this.#endedOfferIds })
    await unmarkImport(this.#db, merchId)
    const { offers_upserted, offers_removed } = this.#result
    if (offers_upserted + offers_removed >= ANALYZE_ROWS) await analyzeOffers(this.#db)
  }
}

type Accepted = Extract<OfferJudgement, { kind: 'offer' }>

const CONTENT_HASH_DIGITS = 16 // 64 bits, compared only with the same offer's last content.
