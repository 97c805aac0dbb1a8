/**
 * A node whose clock shows the past: the running node, with its own market, log buffer and ids.
 *
 * Everything takes the production path except three parts. The clock is given. Events are appended
 * in large batches, because nobody waits for each. Budgets are not leased, because a lease lasts
 * seconds and this clock moves by minutes: campaigns get their caps at the end of the history.
 */
import type { CountedAuction } from '../../auction/auction-totals.ts'
import { AuctionTotalsLoop } from '../../auction/auction-totals-loop.ts'
import { Edge } from '../../auction/edge.ts'
import { type Receipt, ReceiptQueue } from '../../auction/receipt-queue.ts'
import { LeaseBook } from '../../budgets/lease.ts'
import { PacingBook } from '../../budgets/pacing-book.ts'
import type { LogEvent } from '../../events/event.ts'
import type { EventLog } from '../../events/event-log.ts'
import { HashKeys } from '../../events/hash-keys.ts'
import { startFold } from '../../fold/start-fold.ts'
import type { Node } from '../../node/node.ts'
import type { IdSource } from '../../platform/ids.ts'
import { StorageQuotas } from '../../platform/limits/storage-quota.ts'
import { HOUR_MS } from '../../platform/time/timestamp.ts'
import { ClickEstimates } from '../../prediction/click-estimates.ts'
import { hotRoutes } from '../../server/hot-paths.ts'
import { wakeFold } from './history-store.ts'

/** Events of one append: a few commits of the log. */
const BATCH_EVENTS = 3_000
/** A start may wait for a busy machine. */
const LINKS_TIMEOUT_MS = 5_000
/** The header that carries a reader's country in the history. */
export const COUNTRY_HEADER = 'x-country'
/** Batches of totals need a node; no node has this number. */
const TOTALS_OF = { nodeId: 0, incarnation: '1' }

export interface Clock {
  nowMs: number
}

interface PastOptions {
  readonly clock: Clock
  readonly ids: IdSource // of the same clock
  readonly drawResultNumber: () => Buffer
}

export class PastNode {
  readonly clock: Clock
  readonly node: Node
  readonly match: ReturnType<typeof hotRoutes>
  /** Whether receipts of auctions are stored, as they are for clicks and for the last days. */
  storesReceipts = false
  readonly #batches: Batches
  readonly #progress = new Progress()
  readonly #fold: ReturnType<typeof startFold>
  readonly #records: AuctionRecords

  private constructor(own: Node, { clock, batches, edge, records }: PastParts) {
    this.clock = clock
    this.node = edge
    this.match = hotRoutes(edge)
    this.#batches = batches
    this.#records = records
    records.isReceiptKept = () => this.storesReceipts
    this.#fold = startFold({
      connection: own.database.connection,
      onFolded: (_lane, count) => this.#progress.add(count),
      onError: errorOf(own),
    })
  }

  static async open(own: Node, options: PastOptions): Promise<PastNode> {
    const batches = new Batches(own.eventLog)
    const records = new AuctionRecords(own)
    const edge = await openEdge(await pastParts(own, batches, options), records, options)
    return new PastNode(own, { clock: options.clock, batches, edge, records })
  }

  append(events: readonly LogEvent[]): Promise<void> {
    return this.#batches.add(events)
  }

  /** Resolves when everything so far is in the log. */
  flush(): Promise<void> {
    return this.#batches.flush()
  }

  /** Resolves when everything so far is in the log and folded. */
  async untilFolded(): Promise<void> {
    await this.#batches.flush()
    const { appended } = this.#batches
    if (this.#progress.hasReached(appended)) return
    await wakeFold(this.node.database)
    await this.#progress.reached(appended)
  }

  /** Settles, and reads the market, the predictions and these links again. */
  async refresh(auctionIds: readonly string[]): Promise<void> {
    const { hashKeys, edge } = this.node
    await this.untilFolded()
    await hashKeys.refresh(this.clock.nowMs)
    await edge.refresh()
    // In one query; the visits would ask for each of them.
    await Promise.all(auctionIds.map((id) => edge.findLink(id, LINKS_TIMEOUT_MS)))
  }

  async close(): Promise<void> {
    await this.node.edge.close()
    await this.#records.close()
    await this.#fold.close()
  }
}

interface PastParts {
  readonly clock: Clock
  readonly batches: Batches
  readonly edge: Node
  readonly records: AuctionRecords
}

const errorOf =
  ({ log }: Node) =>
  (error: unknown) =>
    log.error({ err: error }, 'history of the demo')

/** The running node with the parts that depend on the clock. */
async function pastParts(own: Node, batches: Batches, { clock, ids }: PastOptions): Promise<Node> {
  const { config, database } = own
  const now = () => clock.nowMs
  const hashKeys = new HashKeys(database)
  await hashKeys.refresh(clock.nowMs)
  const limitless = Object.keys(config.rateLimits).map((group) => [group, null])
  const rateLimits = Object.fromEntries(limitless) as typeof config.rateLimits
  const noQuotas = { terms: null, now, onLeftOut: () => undefined, add: async () => [] }
  return {
    ...own,
    ...{ config: { ...config, rateLimits }, now, hashKeys, ids },
    appender: {
      append: (events: readonly LogEvent[]) => batches.add(events),
      isLogUnreachable: () => false,
      isSpoolEmpty: () => true,
    },
    geo: {
      countryOf: ({ headers }) => String(headers[COUNTRY_HEADER] ?? '') || null,
      close: () => undefined,
    },
    quotas: new StorageQuotas(noQuotas),
    fund: async () => undefined,
  }
}

async function openEdge(
  shared: Node,
  records: AuctionRecords,
  { drawResultNumber }: PastOptions,
): Promise<Node> {
  const { edgeDatabase: database, geo, config, now } = shared
  const [book, estimates] = [new LeaseBook(), new ClickEstimates()]
  const edge = await Edge.open({
    ...{ database, book, estimates, pacing: new PacingBook(), geo, pricing: config.pricing, now },
    ...{ drawResultNumber, onError: errorOf(shared) },
    onReceipt: (receipt) => records.keep(receipt),
    onCounted: (auction) => records.count(auction),
  })
  return { ...shared, edge, book, estimates }
}

/** Stores receipts and totals of auctions in the background. */
class AuctionRecords {
  readonly #receipts: ReceiptQueue
  readonly #totals: AuctionTotalsLoop
  isReceiptKept: () => boolean = () => false

  constructor(own: Node) {
    const [db, onError] = [own.edgeDatabase, errorOf(own)]
    this.#receipts = new ReceiptQueue({ db, onDropped: () => undefined, onError })
    this.#totals = new AuctionTotalsLoop({ db, identity: TOTALS_OF, onError })
  }

  keep(receipt: Receipt): void {
    if (this.isReceiptKept()) this.#receipts.push(receipt)
  }

  count(auction: CountedAuction): void {
    this.#totals.count(auction)
  }

  async close(): Promise<void> {
    await this.#receipts.close()
    await this.#totals.close()
  }
}

/** Counts what the fold has done. */
class Progress {
  #count = 0
  #goal = 0
  #done: () => void = () => undefined

  add(events: number): void {
    this.#count += events
    if (this.#count >= this.#goal) this.#done()
  }

  hasReached(goal: number): boolean {
    return this.#count >= goal
  }

  /** Resolves when this many events are folded in total. */
  async reached(goal: number): Promise<void> {
    if (this.hasReached(goal)) return
    this.#goal = goal
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#done = resolve
    await promise
  }
}

/** Appends events in large batches, one after the other. */
class Batches {
  readonly #log: EventLog
  #events: LogEvent[] = []
  #written: Promise<void> = Promise.resolve()
  /** How many events have been handed to the log. */
  appended = 0

  constructor(log: EventLog) {
    this.#log = log
  }

  /** Resolves at once, or when the batch before is in the log. */
  async add(events: readonly LogEvent[]): Promise<void> {
    this.#events.push(...events)
    if (this.#events.length < BATCH_EVENTS) return
    await this.#written
    this.#write()
  }

  async flush(): Promise<void> {
    await this.#written
    this.#write()
    await this.#written
  }

  #write(): void {
    const events = this.#events
    this.#events = []
    this.appended += events.length
    this.#written = this.#log.append(events)
    // The next caller that waits for it gets the error.
    this.#written.catch(() => undefined)
  }
}

/** Receipts of auctions without a click are deleted after this time. */
export function receiptsFromMs({ config }: Node, endMs: number): number {
  return endMs - config.receiptHours * HOUR_MS
}
