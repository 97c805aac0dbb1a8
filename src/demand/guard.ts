/**
 * How much of a budget is as good as promised: results handed out whose click may still come.
 *
 * A win commits nothing, the click does (economics 2.3). A node therefore stops winning while it
 * can still pay the clicks of the wins in flight, so that a reader's click is almost never
 * unfunded (target: under 0.1 % of clicks).
 */

/** A click later than this after its auction is rare enough to be nobody's promise. */
export const GUARD_MINUTES = 30
/** One-sided normal quantile of 99 %: the clicks of the wins in flight exceed the guard seldom. */
const SURE_Z = 2.33
/** Clicks per win before a campaign has shown its own: 3 of 100. */
const PRIOR_CLICK_RATE = 0.03
const PRIOR_WINS = 100
/** Evidence on the click rate halves in a day. */
const MINUTE_DECAY = 2 ** (-1 / 1440)
const MINUTE_MS = 60_000

/**
 * Budget to keep back for `openWins` wins in flight, in micros:
 * `U = κWp + z p √(Wκ(1−κ)) + z² p / 3` (economics 2.3), and never more than all of them clicked.
 */
export function guardMicros(
  openWins: number,
  { clickRate, priceMicros }: { clickRate: number; priceMicros: number },
): number {
  const expected = openWins * clickRate
  const spread = SURE_Z * Math.sqrt(expected * (1 - clickRate))
  // The last term covers the skew of few events; with no win in flight nothing is promised.
  const clicks = Math.min(openWins, expected + spread + SURE_Z ** 2 / 3)
  return Math.ceil(clicks * priceMicros)
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

  /** Lets minutes that have passed fall out of the window; a clock set back changes nothing. */
  advance(nowMs: number): void {
    const minute = Math.floor(nowMs / MINUTE_MS)
    const passed = minute - this.#minute
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
