/**
 * Estimates what the results already handed out will still cost a campaign, so that almost every
 * click finds a budget that pays it. Auctions cost their sender nothing, so they move the estimate
 * by a bounded amount only. Rule, numbers and bound: docs/spec/budgets.md#reserve-for-open-results
 */

/** One address unit counts once for a campaign in this time. */
const READER_WINDOW_MS = 30 * 60_000
/** Pairs of address and campaign that a node remembers, in about 8 MB. */
const READERS_MAX = 50_000
/**
 * So many readers reserve nothing. It bounds what an address can do: a campaign that readers alone
 * switch off has more than this many, so one address among them takes less than 1/20 of the wins.
 */
export const FREE_READERS = 20
/** Clicks per reader before a campaign has shown its own: 3 of 100. */
const PRIOR_CLICKS = 3
const PRIOR_READERS = 100
/** Half of the evidence on the click rate is forgotten in a day. */
const RATE_MEMORY_MS = 86_400_000 / Math.LN2
/** Time constant of the estimate from clicks, and the most that one click counts. */
const CLICKS_MEMORY_MS = 5 * 60_000
/** While a campaign wins nothing its clicks say nothing, so the estimate fades this much slower. */
const CLOSED_PACE = 0.25
/** Until the first click, readers are taken to click after a minute. */
const PRIOR_DELAY_MS = 60_000
/**
 * Over the geometric mean of the delays, which one late click hardly moves. With delays that are
 * exponentially distributed it is twice their mean: some readers are slower than most.
 */
const DELAY_FACTOR = 3.5
/** One-sided normal quantile of 99 %. */
const SURE_Z = 2.33
/** Less than this part of a click is not reserved, or no budget's last click could be spent. */
const NEGLIGIBLE_CLICKS = 0.25

/** A mean over the last `max` values or so. */
class RollingMean {
  #count = 1 // of the value that it starts with
  readonly #max: number
  value: number

  constructor(value: number, max: number) {
    this.value = value
    this.#max = max
  }

  add(value: number): void {
    this.#count = Math.min(this.#count + 1, this.#max)
    this.value += (value - this.value) / this.#count
  }
}

/** What all campaigns of a node share: which readers were counted, and how long clicks take. */
export class Readers {
  /** In the order of counting. No LRUCache: that one takes its memory before it is needed. */
  readonly #countedAt = new Map<string, number>()
  readonly #logDelay = new RollingMean(Math.log(PRIOR_DELAY_MS), 200)

  /** Whether this address unit counts once more for a campaign's wins or clicks; it then did. */
  isAnother(of: string, address: string, nowMs: number): boolean {
    const key = `${of} ${address}`
    const countedAtMs = this.#countedAt.get(key)
    if (countedAtMs !== undefined && Math.abs(nowMs - countedAtMs) < READER_WINDOW_MS) return false
    this.#countedAt.delete(key)
    this.#countedAt.set(key, nowMs)
    if (this.#countedAt.size > READERS_MAX) {
      const { value: oldest } = this.#countedAt.keys().next()
      if (oldest !== undefined) this.#countedAt.delete(oldest)
    }
    return true
  }

  addDelay(ageMs: number): void {
    this.#logDelay.add(Math.log(Math.min(Math.max(1, ageMs), READER_WINDOW_MS)))
  }

  /** Time constant with which a reader who has not clicked is forgotten. */
  get memoryMs(): number {
    return DELAY_FACTOR * Math.exp(this.#logDelay.value)
  }
}

/** Clicks still to come on the results of one campaign, as one node sees it. */
export class OpenResults {
  readonly #readers: Readers
  readonly #price: RollingMean
  #atMs = Number.NEGATIVE_INFINITY
  #open = 0 // readers who may still click
  #fromClicks = 0 // clicks to come, judged by those that came
  #readersSeen = 0
  #clicksSeen = 0

  constructor(readers: Readers, priceMaxMicros: number) {
    this.#readers = readers
    this.#price = new RollingMean(priceMaxMicros, 20)
  }

  /** Mean price of a click, in micros. */
  get priceMicros(): number {
    return this.#price.value
  }

  countReader(): void {
    this.#open += 1
    this.#readersSeen += 1
  }

  /**
   * Little's law: the mean number of results in flight is the sum of the clicks' ages over time.
   */
  countClick(click: { ageMs: number; priceMicros: number; isOfAnother: boolean }): void {
    const { ageMs, priceMicros } = click
    this.#readers.addDelay(ageMs)
    this.#price.add(priceMicros)
    this.#fromClicks += Math.min(Math.max(0, ageMs), CLICKS_MEMORY_MS) / CLICKS_MEMORY_MS
    // Like the readers that they are compared with: one address must not raise the rate alone.
    if (click.isOfAnother) this.#clicksSeen += 1
    // The reader who clicked no longer may.
    const ofReader = Math.exp(-Math.max(0, ageMs) / this.#readers.memoryMs)
    this.#open = Math.max(0, this.#open - ofReader)
  }

  /** Lets time pass; `isWinning`: the campaign could win meanwhile. */
  advance(nowMs: number, isWinning: boolean): void {
    const elapsedMs = Math.max(0, nowMs - this.#atMs)
    this.#atMs = nowMs
    if (elapsedMs === 0) return
    this.#open *= Math.exp(-elapsedMs / this.#readers.memoryMs)
    this.#fromClicks *= Math.exp((-elapsedMs * (isWinning ? 1 : CLOSED_PACE)) / CLICKS_MEMORY_MS)
    const kept = Math.exp(-elapsedMs / RATE_MEMORY_MS)
    this.#readersSeen *= kept
    this.#clicksSeen *= kept
  }

  /** Micros that the clicks still to come will cost on average. */
  get expectedMicros(): number {
    const clicksPerReader = (this.#clicksSeen + PRIOR_CLICKS) / (this.#readersSeen + PRIOR_READERS)
    const fromReaders = clicksPerReader * Math.max(0, this.#open - FREE_READERS)
    return Math.round(Math.max(this.#fromClicks, fromReaders) * this.#price.value)
  }
}

/** What to keep back where clicks worth `expectedMicros` are to come: more come one time in 100. */
export function reserveMicros(expectedMicros: number, priceMicros: number): number {
  const likely = expectedMicros + SURE_Z * Math.sqrt(expectedMicros * priceMicros)
  return Math.max(0, Math.ceil(likely - NEGLIGIBLE_CLICKS * priceMicros))
}
