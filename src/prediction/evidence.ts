/**
 * A publisher's readers at a merchant: decayed counts of clicks and orders.
 *
 * Counts decay by half in a half-life, lazily: a record holds its counts as of one instant and is
 * moved on when it is read or added to. The fold stores a record for each of HALF_LIVES, of which
 * the nightly fit chooses one (half-life.ts).
 *
 * Clicks too young to have brought their orders are counted separately, in one sum for each of
 * WAITS_MS: `unripe[j] = Σ decay · exp(-age / WAITS_MS[j])`. The delay curve is a mixture of these
 * exponentials, so any fitted mixture gives the ripe clicks from these sums, and no stored count
 * depends on a fit (docs/spec/prediction.md#delay). All sums are plain exponentials, so moving in
 * two steps equals moving in one, and shards add up (P32, P34).
 *
 * An order decays from its click on, not from its report. Otherwise it would outweigh its click,
 * and a merchant with a delay of three days would seem to sell 15 % more.
 */
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import type { Counts } from './predict.ts'

/** In days. Neighbours differ by a factor of four: halfway between two, either works. */
export const HALF_LIVES = [10, 40, 160] as const
export type HalfLife = (typeof HALF_LIVES)[number]

/**
 * Mean delays of the curve's parts, from readers who buy at once to those who compare for weeks.
 * Slow parts are closer together: their error concerns the clicks of weeks.
 */
export const WAITS_MS: readonly number[] = [
  ...[HOUR_MS / 3, 3 * HOUR_MS, 15 * HOUR_MS],
  ...[3 * DAY_MS, 7 * DAY_MS, 18 * DAY_MS],
]

export interface Evidence {
  readonly clicks: number // valid ones
  /**
   * Σ decay² of the clicks, for the number of whole clicks with the same variance (`wholeClicks`)
   */
  readonly squaredClicks: number
  readonly unripe: readonly number[] // of the clicks, by WAITS_MS
  readonly invalid: number // paid clicks that were found invalid later
  readonly orders: number
  readonly value: number // Σ order value in micros
  readonly logValue: number // Σ ln(order value in micros)
  readonly logValueSquare: number // Σ ln²
  readonly atMs: number // the instant of these counts
}

/** A key for each pair of publisher and merchant, for maps. */
export const pairKey = (of: { readonly pubId: number; readonly merchId: number }): string =>
  `${of.pubId} ${of.merchId}`

const ALL_RIPE: readonly number[] = WAITS_MS.map(() => 0)
const ALL_UNRIPE: readonly number[] = WAITS_MS.map(() => 1)

export function noEvidence(atMs: number): Evidence {
  return {
    clicks: 0,
    squaredClicks: 0,
    unripe: ALL_RIPE,
    invalid: 0,
    orders: 0,
    value: 0,
    logValue: 0,
    logValueSquare: 0,
    atMs,
  }
}

/**
 * The same evidence at another instant. At an instant before its own (a clock was ahead) no click
 * is unripe: the orders that came are not separable.
 */
export function evidenceAt(evidence: Evidence, atMs: number, halfLife: HalfLife): Evidence {
  const ageMs = atMs - evidence.atMs
  if (ageMs === 0) return evidence
  const decay = 2 ** (-ageMs / (halfLife * DAY_MS))
  const waitedMs = Math.max(0, ageMs)
  return {
    clicks: evidence.clicks * decay,
    squaredClicks: evidence.squaredClicks * decay * decay,
    unripe: evidence.unripe.map(
      (count, part) => count * decay * Math.exp(-waitedMs / (WAITS_MS[part] ?? 1)),
    ),
    invalid: evidence.invalid * decay,
    orders: evidence.orders * decay,
    value: evidence.value * decay,
    logValue: evidence.logValue * decay,
    logValueSquare: evidence.logValueSquare * decay,
    atMs,
  }
}

/** Adds two records, as of the later of their instants. */
export function addEvidence(left: Evidence, right: Evidence, halfLife: HalfLife): Evidence {
  const atMs = Math.max(left.atMs, right.atMs)
  const one = evidenceAt(left, atMs, halfLife)
  const other = evidenceAt(right, atMs, halfLife)
  return {
    clicks: one.clicks + other.clicks,
    squaredClicks: one.squaredClicks + other.squaredClicks,
    unripe: one.unripe.map((count, part) => count + (other.unripe[part] ?? 0)),
    invalid: one.invalid + other.invalid,
    orders: one.orders + other.orders,
    value: one.value + other.value,
    logValue: one.logValue + other.logValue,
    logValueSquare: one.logValueSquare + other.logValueSquare,
    atMs,
  }
}

/** A click at its own instant: entirely unripe. */
export function clickEvidence(atMs: number, { isValid }: { isValid: boolean }): Evidence {
  return isValid
    ? { ...noEvidence(atMs), clicks: 1, squaredClicks: 1, unripe: ALL_UNRIPE }
    : { ...noEvidence(atMs), invalid: 1 }
}

/** An order, as of the click that led to it. */
export function orderEvidence(clickAtMs: number, valueMicros: number): Evidence {
  const value = Math.max(1, valueMicros)
  const log = Math.log(value)
  return { ...noEvidence(clickAtMs), orders: 1, value, logValue: log, logValueSquare: log * log }
}

/** Subtracts an earlier addition: both decay alike, so they cancel at any later time. */
export function negativeEvidence(evidence: Evidence): Evidence {
  return {
    clicks: -evidence.clicks,
    squaredClicks: -evidence.squaredClicks,
    unripe: evidence.unripe.map((count) => -count),
    invalid: -evidence.invalid,
    orders: -evidence.orders,
    value: -evidence.value,
    logValue: -evidence.logValue,
    logValueSquare: -evidence.logValueSquare,
    atMs: evidence.atMs,
  }
}

/**
 * A pair's counts as of an instant, with no more orders than clicks. The rate counts clicks that
 * brought an order, because a browser can report any number of orders for one click.
 */
export function pairAt(evidence: Evidence, atMs: number, halfLife: HalfLife): Evidence {
  const pair = evidenceAt(evidence, atMs, halfLife)
  const { clicks, orders, value, logValue, logValueSquare } = pair
  if (orders <= clicks) return pair
  const part = clicks / orders
  return {
    ...pair,
    orders: clicks,
    value: part * value,
    logValue: part * logValue,
    logValueSquare: part * logValueSquare,
  }
}

/** Weights of WAITS_MS in the delay curve; their sum is 1. */
export type DelayCurve = readonly number[]

/** The share of orders that come later than an age after their click. */
export function shareWaiting(curve: DelayCurve, ageMs: number): number {
  return curve.reduce(
    (sum, weight, part) => sum + weight * Math.exp(-ageMs / (WAITS_MS[part] ?? 1)),
    0,
  )
}

/** Clicks old enough to have brought their orders. */
export function ripeClicks({ clicks, unripe }: Evidence, curve: DelayCurve): number {
  const young = curve.reduce((sum, weight, part) => sum + weight * (unripe[part] ?? 0), 0)
  return Math.max(0, clicks - young)
}

/**
 * The counts that inform the rate: ripe clicks and their orders. A click with an order is ripe at
 * any age; otherwise early orders could outnumber ripe clicks.
 */
export function countsOf(evidence: Evidence, curve: DelayCurve): Counts {
  const { orders } = evidence
  return { clicks: Math.max(orders, ripeClicks(evidence, curve)), orders }
}

/**
 * The factor from decayed counts to whole counts of equal variance. A sum of n decayed clicks with
 * Σ decay² = q varies like `n²/q` whole ones: twice as many under steady traffic. Without it the
 * fit underestimates tenfold how much pairs differ.
 */
export function wholeClicks({ clicks, squaredClicks }: Evidence): number {
  return squaredClicks <= 0 ? 1 : Math.max(1, clicks / squaredClicks)
}
