/**
 * What one node holds in memory to answer readers: the market, cached links, budget leases.
 * Refreshed off the request path.
 */
import { loadOverCap } from '../budgets/liability-store.ts'
import { consentOf } from '../events/consent.ts'
import { readUserAgent } from '../events/user-agent.ts'
import { CoalescedTask } from '../platform/concurrency/coalesced-task.ts'
import { startPoller } from '../platform/concurrency/poller.ts'
import { drawRandomBytes } from '../platform/crypto/random-bytes.ts'
import type { HotRequest } from '../platform/http/hot-http.ts'
import { addressUnit } from '../platform/net/client-address.ts'
import type { Geo } from '../platform/net/geo.ts'
import { type Listener, listen } from '../platform/postgres/listen.ts'
import { type Database, ping } from '../platform/postgres/postgres.ts'
import { type AuctionContext, type AuctionResult, auctionResult, NOBODY } from './auction-result.ts'
import type { CountedAuction } from './auction-totals.ts'
import { Decider, type DeciderOptions } from './decide.ts'
import { LinkCache } from './link-cache.ts'
import { type LinkData, loadLinks } from './link-store.ts'
import { isOwnPage, loadMarket, type Market } from './market.ts'
import { RESULT_NUMBER_BYTES } from './receipt.ts'
import type { Receipt } from './receipt-queue.ts'

/** A notification reaches every node within 2 s; this poll covers a lost one. */
const POLL_MS = 10_000
/** Campaigns start and end, feeds expire: checked once a second. */
const TICK_MS = 1_000
/** Changes in quick succession (an import, a script) cause one reload. */
const GATHER_MS = 50
/** The interval of storage probes; an answer proves for this long that storage is up. */
const PROBE_MS = 500
const ANSWER_HOLDS_MS = 1_500
/** Predictions change slowly, and each reload lays out all candidates again. */
const ESTIMATES_MS = 60_000
/** Tables whose changes affect cached links. */
const LINK_TABLES = new Set(['merchant', 'merchant_domain', 'smart_link'])

export interface EdgeOptions extends DeciderOptions {
  readonly database: Database
  readonly geo: Geo
  readonly onReceipt: (receipt: Receipt, address: string) => void
  /** Names each result; random unless given. Only a generated history repeats its numbers. */
  readonly drawResultNumber?: () => Buffer
  /** Called for every auction that counts, whether its receipt is stored or not. */
  readonly onCounted: (auction: CountedAuction) => void
  readonly onError: (error: unknown) => void
}

export class Edge {
  readonly #options: EdgeOptions
  readonly #links: LinkCache
  readonly #decider: Decider
  #market: Market
  #listener: Listener | null = null
  #gathering: NodeJS.Timeout | null = null
  /** One load at a time: of two, the older snapshot might arrive last and stay. */
  readonly #reloads = new CoalescedTask(() => this.#reload())
  /** Separate from reloads: it reads weeks of clicks, and no change must wait for that. */
  readonly #judgings = new CoalescedTask(() => this.#judgeBudgets().catch(this.#options.onError))
  #timers: NodeJS.Timeout[] = []
  #isLinkChange = false
  #areEstimatesNew = false
  #overCap: ReadonlySet<number> = new Set()
  #answeredAtMs = performance.now()

  private constructor(options: EdgeOptions, market: Market) {
    this.#options = options
    this.#market = market
    this.#links = new LinkCache(
      (ids) => loadLinks(options.database, ids, (offer) => isOwnPage(this.#market, offer)),
      (link) => this.#decider.forget(link),
    )
    this.#decider = new Decider(options, market)
  }

  /** Loads the market, then listens for changes. */
  static async open(options: EdgeOptions): Promise<Edge> {
    await options.estimates.refresh(options.database, options.now())
    await options.pacing.refresh(options.database)
    const edge = new Edge(options, await loadMarket(options.database, 1))
    await edge.#judgeBudgets()
    edge.#listener = listen({
      connection: options.database.connection,
      applicationName: 'souk edge',
      channel: 'souk_config',
      onNotification: (table) => edge.#noteChange(LINK_TABLES.has(table)),
      onListening: () => edge.#noteChange(true),
    })
    edge.#timers = [
      setInterval(() => edge.#noteChange(false), POLL_MS),
      setInterval(() => edge.#decider.tick(), TICK_MS),
      startPoller(() => edge.#refreshEstimates(), {
        everyMs: ESTIMATES_MS,
        onError: options.onError,
      }),
      // Not reported: callers that need an answer do so. Here a missing answer is enough.
      startPoller(() => edge.#probe(), { everyMs: PROBE_MS, onError: () => undefined }),
    ]
    return edge
  }

  get market(): Market {
    return this.#market
  }

  /** Campaigns that pay per order and win nothing now: pending orders will use up a budget. */
  get overCap(): ReadonlySet<number> {
    return this.#overCap
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    if (this.#gathering !== null) clearTimeout(this.#gathering)
    await this.#listener?.close()
  }

  /** Reads predictions, market and links again at once, for a clock that skips the usual times. */
  async refresh(): Promise<void> {
    await this.#refreshEstimates()
    this.#isLinkChange = true
    await this.#reloads.ask()
  }

  /** The link; null if there is none. Rejects if that cannot be found out in time. */
  findLink(auctionId: string, timeoutMs: number): Promise<LinkData | null> {
    return this.#links.get(auctionId, timeoutMs)
  }

  /** The link if this node holds it, without waiting. */
  peekLink(auctionId: string): LinkData | undefined {
    return this.#links.peek(auctionId)
  }

  /** False if storage has been silent: then nothing is waited for that this node lacks. */
  isStorageAnswering(): boolean {
    return performance.now() - this.#answeredAtMs < ANSWER_HOLDS_MS
  }

  /** A page's auction. */
  runForPage(link: LinkData, request: HotRequest, page: RequestFacts): AuctionResult {
    const result = this.#run(link, request, { ...page, isAtClick: false, unfunded: [] })
    if (request.isHead) return result
    this.storeReceipt(result, request)
    // A robot's click is never paid, so nothing is reserved for it.
    const { isRobot } = readUserAgent(request.headers['user-agent'])
    if (result.winner !== null && !isRobot) {
      const { campaign_id } = result.winner.campaign
      this.#options.book.recordWin(campaign_id, addressUnit(request.address), page.nowMs)
    }
    return result
  }

  /**
   * The auction of a click on a smart link or wrapper; the campaigns in `unfunded` count as
   * unfunded. The caller stores the receipt, because the winner may turn out to be unable to pay.
   */
  runAtClick(link: LinkData, request: HotRequest, click: ClickFacts): AuctionResult {
    return this.#run(link, request, { ...click, isAtClick: true })
  }

  storeReceipt({ receipt, counted }: AuctionResult, { address }: HotRequest): void {
    if (counted !== null) this.#options.onCounted(counted)
    if (receipt !== null) this.#options.onReceipt(receipt, address)
  }

  /** The link's own destination, as a result that nobody pays for. */
  originalResult(link: LinkData, request: HotRequest, click: RequestFacts): AuctionResult {
    const context = this.#context(link, request, { ...click, isAtClick: true })
    const resultNumber = this.#drawResultNumber()
    return auctionResult(this.#market, link, { context, decision: NOBODY, resultNumber })
  }

  /** The consent in force, from the page, the browser's signals and the publisher's default. */
  consentFor(request: HotRequest, pubId: number, said: string | undefined): number {
    const byDefault = this.#market.publishers.get(pubId)?.consent_default ?? 'full'
    return consentOf(said, { headers: request.headers, byDefault })
  }

  #run(link: LinkData, request: HotRequest, page: ClickFacts & ContextFacts): AuctionResult {
    const context = this.#context(link, request, page)
    const resultNumber = this.#drawResultNumber()
    const { unfunded } = page
    const decision = this.#market.disabledLinks.has(link.link.auction_id)
      ? NOBODY
      : this.#decider.decide(link, { context, resultNumber, unfunded })
    return auctionResult(this.#market, link, { context, decision, resultNumber })
  }

  #drawResultNumber(): Buffer {
    return this.#options.drawResultNumber?.() ?? drawRandomBytes(RESULT_NUMBER_BYTES)
  }

  #context(link: LinkData, request: HotRequest, page: ContextFacts): AuctionContext {
    return {
      nowMs: page.nowMs,
      isAtClick: page.isAtClick,
      consent: this.consentFor(request, link.link.pub_id, page.consent),
      device: readUserAgent(request.headers['user-agent']).device,
      country: this.#options.geo.countryOf(request),
    }
  }

  async #refreshEstimates(): Promise<void> {
    const { estimates, pacing, database, now } = this.#options
    await pacing.refresh(database)
    await estimates.refresh(database, now())
    this.#areEstimatesNew = true
    void this.#judgings.ask()
  }

  async #probe(): Promise<void> {
    await ping(this.#options.database)
    this.#answeredAtMs = performance.now()
  }

  /** Campaigns that pay per order have no leases; their pending orders decide. */
  async #judgeBudgets(): Promise<void> {
    const { book, estimates, database, now } = this.#options
    this.#overCap = await loadOverCap(database, { estimates, nowMs: now() })
    book.setOverCap(this.#overCap, now())
  }

  #noteChange(isLinkChange: boolean): void {
    this.#isLinkChange ||= isLinkChange
    if (this.#gathering !== null) return
    this.#gathering = setTimeout(() => {
      this.#gathering = null
      void this.#reloads.ask()
    }, GATHER_MS)
  }

  async #reload(): Promise<void> {
    const isLinkChange = this.#isLinkChange
    this.#isLinkChange = false
    try {
      const market = await loadMarket(this.#options.database, this.#market.version + 1)
      if (this.#areEstimatesNew || market.fingerprint !== this.#market.fingerprint) {
        this.#areEstimatesNew = false
        this.#decider.setMarket(market)
        this.#market = market
        void this.#judgings.ask()
      }
      if (isLinkChange) this.#links.invalidate()
    } catch (error) {
      // The current snapshot stays in use; the next change, reconnection or poll tries again.
      this.#isLinkChange ||= isLinkChange
      this.#options.onError(error)
    }
  }
}

interface RequestFacts {
  readonly nowMs: number
  readonly consent: string | undefined // The page's consent.
}

interface ContextFacts extends RequestFacts {
  readonly isAtClick: boolean
}

interface ClickFacts extends RequestFacts {
  readonly unfunded: readonly number[] // Campaigns that could not pay this click.
}
