/**
 * Estimates the cost of clicks still to come on results already handed out, so that almost every
 * click finds a budget that pays it. Auctions cost their sender nothing, so they move the estimate
 * only within a bound. Rule, numbers and bound: docs/spec/budgets.md#reserve-for-open-results
 */

/** One address unit counts once per campaign in this time. */
const READER_WINDOW_MS = 30 * 60_000
/** Pairs of address and campaign that a node remembers, in about 8 MB. */
const READERS_MAX = 50_000
/**
 * The first readers reserve nothing. This bounds the effect of one address: a campaign that is
 * paused by readers alone has more than this many, so one address among them takes less than 1/20
 * of the wins.
 */
export const FREE_READERS = 20
/** The assumed click rate before a campaign has its own data: 3 of 100. */
const PRIOR_CLICKS = 3
const PRIOR_READERS = 100
/** Half of the evidence on the click rate is forgotten in a day. */
const RATE_MEMORY_MS = 86_400_000 / Math.LN2
/** Time constant of the estimate from clicks, and the most that one click counts. */
const CLICKS_MEMORY_MS = 5 * 60_000
/** A campaign that wins nothing gets no evidence, so its estimate fades this much slower. */
const CLOSED_PACE = 0.25
/** Before the first click, readers are assumed to click after a minute. */
const PRIOR_DELAY_MS = 60_000
/**
 * Over the geometric mean of the delays, which is robust to one late click. For exponentially
 * distributed delays it is twice their mean, because some readers are slower than most.
 */
const DELAY_FACTOR = 3.5
/** One-sided normal quantile of 99 %. */
const SURE_Z = 2.33
/** Less than this part of a click is not reserved, or no budget's last click could be spent. */
const NEGLIGIBLE_CLICKS = 0.25

/** A running mean over about the last `max` values. */
class RollingMean {
  #count = 1 // of the initial value
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

/** State shared by all campaigns of a node: counted readers, and the delay of clicks. */
export class Readers {
  /** In insertion order. Not an LRUCache, which allocates its full memory up front. */
  readonly #countedAt = new Map<string, number>()
  readonly #logDelay = new RollingMean(Math.log(PRIOR_DELAY_MS), 200)

  /** Counts this address unit for a campaign's wins or clicks; false if it already counted. */
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

  /** Time constant with which a reader who has not clicked is dropped. */
  get memoryMs(): number {
    return DELAY_FACTOR * Math.exp(this.#logDelay.value)
  }
}

/** One node's estimate of the clicks to come on the results of one campaign. */
export class OpenResults {
  readonly #readers: Readers
  readonly #price: RollingMean
  #atMs = Number.NEGATIVE_INFINITY
  #open = 0 // readers who may still click
  #fromClicks = 0 // clicks to come, estimated from past clicks
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
    // Counted per address, like the readers: one address must not raise the rate alone.
    if (click.isOfAnother) this.#clicksSeen += 1
    // The reader has clicked and will not click again.
    const ofReader = Math.exp(-Math.max(0, ageMs) / this.#readers.memoryMs)
    this.#open = Math.max(0, this.#open - ofReader)
  }

  /** Advances the time; `isWinning`: the campaign could win in this interval. */
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

  /** The expected cost of the clicks to come, in micros. */
  get expectedMicros(): number {
    const clicksPerReader = (this.#clicksSeen + PRIOR_CLICKS) / (this.#readersSeen + PRIOR_READERS)
    const fromReaders = clicksPerReader * Math.max(0, this.#open - FREE_READERS)
    return Math.round(Math.max(this.#fromClicks, fromReaders) * this.#price.value)
  }
}

/** The reserve for clicks worth `expectedMicros`: exceeded one time in 100. */
export function reserveMicros(expectedMicros: number, priceMicros: number): number {
  const likely = expectedMicros + SURE_Z * Math.sqrt(expectedMicros * priceMicros)
  return Math.max(0, Math.ceil(likely - NEGLIGIBLE_CLICKS * priceMicros))
}
