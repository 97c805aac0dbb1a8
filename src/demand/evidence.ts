/**
 * What a publisher's readers did at a merchant: clicks and orders, the recent ones counting more.
 *
 * Counts decay by half in 14 days, lazily: a record holds its counts as of one instant and is moved
 * on when it is read or added to (economics 3). Clicks that are too young to have brought their
 * orders yet are kept apart as `unripe`: each counts `exp(-age/τ)` there, so that
 * `clicks - unripe` is `Σ clicks · decay · G(age)` with `G(a) = 1 - exp(-a/τ)`. Both sums are plain
 * exponentials, so moving in two steps equals moving in one, and shards may be added up (P32, P34).
 *
 * An order decays from its click on, not from when it came: it would else weigh more than the click
 * that it is counted against, and a merchant whose readers take three days would seem to sell 15 %
 * more than it does.
 */
import { DAY_MS } from '../platform/timestamp.ts'
import type { Counts } from './predict.ts'

const HALF_LIFE_MS = 14 * DAY_MS

export interface Evidence {
  readonly clicks: number // valid ones
  readonly unripe: number // of the clicks: those whose orders are still to come
  readonly invalid: number // clicks that were paid and found invalid later
  readonly orders: number
  readonly logValue: number // Σ ln(order value in micros)
  readonly logValueSquare: number // Σ ln²
  readonly atMs: number // the instant these counts are as of
}

/** One text for each pair of publisher and merchant, for maps. */
export const pairKey = (of: { readonly pubId: number; readonly merchId: number }): string =>
  `${of.pubId} ${of.merchId}`

export function noEvidence(atMs: number): Evidence {
  return {
    clicks: 0,
    unripe: 0,
    invalid: 0,
    orders: 0,
    logValue: 0,
    logValueSquare: 0,
    atMs,
  }
}

/**
 * The same evidence as seen at another instant; `delayMs` is τ, the mean wait for an order. Of an
 * instant before its own (a clock was ahead) nothing is unripe again: what has come of it is lost.
 */
export function evidenceAt(evidence: Evidence, atMs: number, delayMs: number): Evidence {
  const ageMs = atMs - evidence.atMs
  if (ageMs === 0) return evidence
  const decay = 2 ** (-ageMs / HALF_LIFE_MS)
  return {
    clicks: evidence.clicks * decay,
    unripe: evidence.unripe * decay * Math.exp(-Math.max(0, ageMs) / delayMs),
    invalid: evidence.invalid * decay,
    orders: evidence.orders * decay,
    logValue: evidence.logValue * decay,
    logValueSquare: evidence.logValueSquare * decay,
    atMs,
  }
}

/** Adds two records, as of the later of their instants. */
export function addEvidence(left: Evidence, right: Evidence, delayMs: number): Evidence {
  const atMs = Math.max(left.atMs, right.atMs)
  const one = evidenceAt(left, atMs, delayMs)
  const other = evidenceAt(right, atMs, delayMs)
  return {
    clicks: one.clicks + other.clicks,
    unripe: one.unripe + other.unripe,
    invalid: one.invalid + other.invalid,
    orders: one.orders + other.orders,
    logValue: one.logValue + other.logValue,
    logValueSquare: one.logValueSquare + other.logValueSquare,
    atMs,
  }
}

/** A click at its own instant: all of it still unripe. */
export function clickEvidence(atMs: number, { isValid }: { isValid: boolean }): Evidence {
  return isValid
    ? { ...noEvidence(atMs), clicks: 1, unripe: 1 }
    : { ...noEvidence(atMs), invalid: 1 }
}

/** An order, as of the click that led to it. */
export function orderEvidence(clickAtMs: number, valueMicros: number): Evidence {
  const log = Math.log(Math.max(1, valueMicros))
  return { ...noEvidence(clickAtMs), orders: 1, logValue: log, logValueSquare: log * log }
}

/** Takes back what was added before: the sums decay alike, so the two cancel at any later time. */
export function negativeEvidence({ atMs, ...counts }: Evidence): Evidence {
  const negative = Object.entries(counts).map(([name, count]) => [name, -count])
  return { ...noEvidence(atMs), ...Object.fromEntries(negative) }
}

/**
 * What a pair's evidence says as of an instant: no more orders than clicks. Of how many clicks one
 * brings an order is what a rate tells, and any browser can tell as many orders of one click as it
 * likes: sixty made a commission at every other merchant of a young network count twenty times as
 * much.
 */
export function pairAt(evidence: Evidence, atMs: number, delayMs: number): Evidence {
  const pair = evidenceAt(evidence, atMs, delayMs)
  const { clicks, orders, logValue, logValueSquare } = pair
  if (orders <= clicks) return pair
  const part = clicks / orders
  return {
    ...pair,
    orders: clicks,
    logValue: part * logValue,
    logValueSquare: part * logValueSquare,
  }
}

/** Clicks old enough to have brought their orders, `n` of economics 3. */
export function ripeClicks({ clicks, unripe }: Evidence): number {
  return Math.max(0, clicks - unripe)
}

/**
 * What of the evidence says something about the rate: clicks whose orders have come, and those. A
 * click that brought its order is ripe, however early: orders that came sooner than τ expects would
 * else be more than the clicks.
 */
export function countsOf(evidence: Evidence): Counts {
  const { orders } = evidence
  return { clicks: Math.max(orders, ripeClicks(evidence)), orders }
}
