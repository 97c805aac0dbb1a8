/**
 * How much of a budget is as good as promised: results handed out whose click may still come.
 *
 * A win commits nothing, the click does (economics 2.3). A node therefore stops winning while it
 * can still pay the clicks of the wins in flight, so that a reader's click is almost never
 * unfunded (target: under 0.1 % of clicks).
 *
 * Most clicks come within minutes, so a win of twenty minutes ago promises little: each counts by
 * the share of clicks that come at its age or later, as this node has seen it. Wins of all nodes
 * are guarded together, because each node's own margin would add up to budgets that stay unused.
 */

/** A click later than this after its auction is rare enough to be nobody's promise. */
const GUARD_MINUTES = 30
/** One-sided normal quantile of 99 %: the clicks of the wins in flight exceed the guard seldom. */
const SURE_Z = 2.33
/** Clicks per win before a campaign has shown its own: 3 of 100. */
const PRIOR_CLICK_RATE = 0.03
const PRIOR_WINS = 100
/** Evidence on the click rate halves in a day. */
const MINUTE_DECAY = 2 ** (-1 / 1440)
const MINUTE_MS = 60_000

/** Clicks that the ages of a node's clicks are learned against: evenly over the half hour. */
const PRIOR_AGES = 30
/** Above this, old ages count half: habits change, and a sum must not grow for ever. */
const AGES_MAX = 20_000

export interface InFlight {
  readonly expectedClicks: number // κW: the clicks still to come
  readonly openWins: number // results that no click has answered
}

/**
 * Budget to keep back for wins in flight, in micros:
 * `U = κWp + z p √(Wκ(1−κ)) + z² p / 3` (economics 2.3), and never more than all of them clicked.
 */
export function guardMicros(
  { expectedClicks: expected, openWins }: InFlight,
  { clickRate, priceMicros }: { clickRate: number; priceMicros: number },
): number {
  const spread = SURE_Z * Math.sqrt(expected * (1 - clickRate))
  // The last term covers the skew of few events; with no win in flight nothing is promised.
  const clicks = Math.min(openWins, expected + spread + SURE_Z ** 2 / 3)
  return Math.ceil(clicks * priceMicros)
}

/** How long readers take from the auction to the click, over all campaigns of this node. */
export class ClickAges {
  readonly #clicks = new Float64Array(GUARD_MINUTES).fill(PRIOR_AGES / GUARD_MINUTES)
  readonly #shareFrom = new Float64Array(GUARD_MINUTES)
  #total = PRIOR_AGES

  constructor() {
    this.#sum()
  }

  count(ageMs: number): void {
    const minute = Math.floor(ageMs / MINUTE_MS)
    if (minute < 0 || minute >= GUARD_MINUTES) return
    this.#clicks[minute] = (this.#clicks[minute] ?? 0) + 1
    this.#total += 1
    if (this.#total > AGES_MAX) {
      this.#total /= 2
      for (let at = 0; at < GUARD_MINUTES; at++) this.#clicks[at] = (this.#clicks[at] ?? 0) / 2
    }
    this.#sum()
  }

  /** The part of all clicks that come when their result is this old, in minutes, or older. */
  shareFrom(minute: number): number {
    return this.#shareFrom[minute] ?? 0
  }

  #sum(): void {
    let later = 0
    for (let at = GUARD_MINUTES - 1; at >= 0; at--) {
      later += this.#clicks[at] ?? 0
      this.#shareFrom[at] = later / this.#total
    }
  }
}

/** Counts a campaign's wins and clicks of the last half hour on this node, by the minute. */
export class WinWindow {
  readonly #wins = new Uint32Array(GUARD_MINUTES)
  readonly #clicks = new Uint32Array(GUARD_MINUTES)
  #minute = 0
  #winsInWindow = 0
  #clicksInWindow = 0
  #winsSeen = 0
  #clicksSeen = 0

  /** Wins of the window that no click has answered yet. */
  get openWins(): number {
    return Math.max(0, this.#winsInWindow - this.#clicksInWindow)
  }

  /** Clicks per win, shrunk to 3 % while little is known; always inside (0, 1). */
  get clickRate(): number {
    const clicks = Math.min(this.#clicksSeen, this.#winsSeen)
    return (clicks + PRIOR_CLICK_RATE * PRIOR_WINS) / (this.#winsSeen + PRIOR_WINS)
  }

  /** Clicks that the wins of the window are still expected to bring. */
  expectedClicks(ages: ClickAges): number {
    let open = 0
    for (let age = 0; age < GUARD_MINUTES; age++) {
      const cell = (this.#minute - age + GUARD_MINUTES) % GUARD_MINUTES
      // A win of this minute is up to a minute old; until it is over all of its clicks may come.
      open += (this.#wins[cell] ?? 0) * ages.shareFrom(age)
    }
    return Math.min(this.openWins, open * this.clickRate)
  }

  countWin(nowMs: number): void {
    this.advance(nowMs)
    const cell = this.#minute % GUARD_MINUTES
    this.#wins[cell] = (this.#wins[cell] ?? 0) + 1
    this.#winsInWindow += 1
    this.#winsSeen += 1
  }

  countClick(nowMs: number): void {
    this.advance(nowMs)
    const cell = this.#minute % GUARD_MINUTES
    this.#clicks[cell] = (this.#clicks[cell] ?? 0) + 1
    this.#clicksInWindow += 1
    this.#clicksSeen += 1
  }

  /**
   * Lets minutes that have passed fall out of the window. After a clock was set back, and not just
   * asked about a request of a moment ago, it goes on from there: else it would take in wins for as
   * long as the clock needs to come to where it was.
   */
  advance(nowMs: number): void {
    const minute = Math.floor(nowMs / MINUTE_MS)
    const passed = minute - this.#minute
    if (passed < -1) this.#minute = minute
    if (passed <= 0) return
    for (let step = 1; step <= Math.min(passed, GUARD_MINUTES); step++) {
      const cell = (this.#minute + step) % GUARD_MINUTES
      this.#winsInWindow -= this.#wins[cell] ?? 0
      this.#clicksInWindow -= this.#clicks[cell] ?? 0
      this.#wins[cell] = 0
      this.#clicks[cell] = 0
    }
    const decay = MINUTE_DECAY ** passed
    this.#winsSeen *= decay
    this.#clicksSeen *= decay
    this.#minute = minute
  }
}
