/**
 * What a publisher's readers did at a merchant: clicks and orders, the recent ones counting more.
 *
 * Counts decay by half in a half-life, lazily: a record holds its counts as of one instant and is
 * moved on when it is read or added to. The fold keeps a record for each of HALF_LIVES, of which
 * the nightly fit chooses one (half-life.ts).
 *
 * Clicks that are too young to have brought their orders count apart, in one sum for each of
 * WAITS_MS: `unripe[j] = Σ decay · exp(-age / WAITS_MS[j])`. The share of orders that come after an
 * age is a mixture of these exponentials, so any fitted mixture gives its ripe clicks from these
 * sums, and no stored count depends on a fit (docs/spec/prediction.md#delay). All sums are plain
 * exponentials, so moving in two steps equals moving in one, and shards add up (P32, P34).
 *
 * An order decays from its click on, not from when it came: it would else weigh more than the click
 * that it is counted against, and a merchant whose readers take three days would seem to sell 15 %
 * more than it does.
 */
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import type { Counts } from './predict.ts'

/** In days. Neighbours differ by four times: halfway between two, either serves. */
export const HALF_LIVES = [10, 40, 160] as const
export type HalfLife = (typeof HALF_LIVES)[number]

/**
 * Mean waits of the parts of the delay curve, from readers who buy at once to those who compare for
 * weeks. Slow parts lie closer together: their error concerns the clicks of weeks.
 */
export const WAITS_MS: readonly number[] = [
  ...[HOUR_MS / 3, 3 * HOUR_MS, 15 * HOUR_MS],
  ...[3 * DAY_MS, 7 * DAY_MS, 18 * DAY_MS],
]

export interface Evidence {
  readonly clicks: number // valid ones
  /** Σ decay² of the clicks: how many whole clicks would scatter as these do (`wholeClicks`). */
  readonly squaredClicks: number
  readonly unripe: readonly number[] // of the clicks, by WAITS_MS
  readonly invalid: number // clicks that were paid and found invalid later
  readonly orders: number
  readonly value: number // Σ order value in micros
  readonly logValue: number // Σ ln(order value in micros)
  readonly logValueSquare: number // Σ ln²
  readonly atMs: number // the instant these counts are as of
}

/** One text for each pair of publisher and merchant, for maps. */
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
 * The same evidence as seen at another instant. Of an instant before its own (a clock was ahead)
 * nothing is unripe again: what has come of it is lost.
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

/** A click at its own instant: all of it still unripe. */
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

/** Takes back what was added before: the sums decay alike, so the two cancel at any later time. */
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
 * What a pair's evidence says as of an instant: no more orders than clicks. The rate is clicks that
 * brought an order, and any browser can report as many orders of one click as it likes: sixty made
 * a commission at every other merchant of a young network count twenty times as much.
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

/** Weights of WAITS_MS in the delay curve; they add up to 1. */
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
 * What of the evidence says something about the rate: clicks whose orders have come, and those. A
 * click that brought its order is ripe, however early: orders that came sooner than the curve
 * expects would else be more than the clicks.
 */
export function countsOf(evidence: Evidence, curve: DelayCurve): Counts {
  const { orders } = evidence
  return { clicks: Math.max(orders, ripeClicks(evidence, curve)), orders }
}

/**
 * The factor by which decayed counts are fewer than whole ones that scatter alike. A sum of n
 * decayed clicks with Σ decay² = q varies as `n²/q` whole ones do: twice as many, where clicks came
 * evenly for long. Fitted as if they were whole, pairs seemed to differ by a tenth of what they do.
 */
export function wholeClicks({ clicks, squaredClicks }: Evidence): number {
  return squaredClicks <= 0 ? 1 : Math.max(1, clicks / squaredClicks)
}
