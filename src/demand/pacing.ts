/**
 * How much of its traffic may a campaign take now, so that its daily budget lasts the day?
 *
 * Probabilistic throttling: a campaign enters an auction with the pass-through rate `ptr`, by a
 * coin that is a pure function of the result's number. Its bid stays what the merchant typed, so
 * the auction stays truthful (economics 2.4). Once a minute the rate is set so that spending meets
 * the day's traffic curve a little ahead:
 *   N ← (1−a)N + a·spend/ptr,  D ← (1−a)D + a·ΔF,  U = N/D     what all traffic would cost
 *   need = max(0, B·min(1, F+H) − spent)/H,  ptr = clip(need/U, .01, 1)
 * Pure: a state and a measurement in, the next state out.
 */

/** Weight of the last minute: U remembers about a quarter of an hour. */
const MEMORY = 0.06
/** The controller aims at where the curve will be after this part of the day's traffic. */
const LOOK_AHEAD = 0.03
/** Never quite zero, or U could not be measured any more. */
export const PTR_MIN = 0.01
/** So few clicks say nothing about demand, and front-loading them harms no budget. */
const UNPACED_CLICKS = 20
const MINUTES_PER_DAY = 1440

const LAST_MINUTE = 1 / MINUTES_PER_DAY

/** The interval at which `stepPacer` is to be called. */
export const PACING_INTERVAL_MS = 60_000

/** What the controller remembers of one campaign. */
export interface Pacer {
  readonly spendPerMinute: number // N, micros: what a minute would cost unthrottled
  readonly trafficPerMinute: number // D, parts of a day's traffic
  readonly ptr: number // at least PTR_MIN: what is let through can be measured
  readonly spentMicros: number // of the day, when last measured
  readonly share: number // F when last measured
}

/** The day so far. */
export interface PacingMeasure {
  readonly budgetMicros: number // B
  readonly spentMicros: number // of today's budget, by all nodes
  readonly share: number // F: part of the day's traffic that the curve expects until now, 0..1
  readonly priceMaxMicros: number
}

/**
 * A campaign about which nothing is known: assumed to meet just its budget's worth of traffic, so
 * that it starts unthrottled and the first minutes teach otherwise.
 *
 * Our choice: not at .1, as economics 2.4 has it. That would lose nine of ten auctions to guard
 * against a demand of ten times the budget, which costs 0.7 % of it in the first minute
 * (bench/pacing.ts).
 */
export function newPacer({ budgetMicros, spentMicros, share }: PacingMeasure): Pacer {
  return {
    spendPerMinute: budgetMicros / MINUTES_PER_DAY,
    trafficPerMinute: 1 / MINUTES_PER_DAY,
    ptr: 1,
    spentMicros,
    share,
  }
}

/** Takes the measurement of another minute and sets the rate for the next one. */
export function stepPacer(before: Pacer, measure: PacingMeasure): Pacer {
  const { spentMicros, share } = measure
  // At midnight UTC both start again from zero: what is there now came since.
  const isNewDay = share < before.share
  const spend = Math.max(0, spentMicros - (isNewDay ? 0 : before.spentMicros))
  const traffic = share - (isNewDay ? 0 : before.share)
  const weigh = (old: number, now: number): number => (1 - MEMORY) * old + MEMORY * now
  const spendPerMinute = weigh(before.spendPerMinute, spend / before.ptr)
  const trafficPerMinute = weigh(before.trafficPerMinute, traffic)
  const unthrottled = trafficPerMinute > 0 ? spendPerMinute / trafficPerMinute : 0
  const ptr = passThrough(measure, unthrottled)
  return { spendPerMinute, trafficPerMinute, ptr, spentMicros, share }
}

/** `clip(need / U, .01, 1)`; monotone in what is still to be spent. */
export function passThrough(measure: PacingMeasure, unthrottledMicros: number): number {
  const { budgetMicros, spentMicros, share, priceMaxMicros } = measure
  if (spentMicros < UNPACED_CLICKS * priceMaxMicros) return 1
  const aim = budgetMicros * Math.min(1, share + LOOK_AHEAD)
  // At the end of the day less traffic is left than the look-ahead: dividing by that instead of H
  // spends the last percent as well (used .9892 → .9998 of the budget in bench/pacing.ts).
  const ahead = Math.max(LAST_MINUTE, Math.min(LOOK_AHEAD, 1 - share))
  const need = Math.max(0, aim - spentMicros) / ahead
  // Compared before dividing: with no demand at all, U is 0 and everything may pass.
  if (need >= unthrottledMicros) return 1
  return Math.max(PTR_MIN, need / unthrottledMicros)
}
