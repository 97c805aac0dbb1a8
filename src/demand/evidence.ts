/**
 * What a publisher's readers did at a merchant: clicks and orders, the recent ones counting more.
 *
 * Counts decay by half in 14 days, lazily: a record holds its counts as of one instant and is moved
 * on when it is read or added to (economics 3). Clicks that are too young to have brought their
 * orders yet are kept apart as `unripe`: each counts `exp(-age/τ)` there, so that
 * `clicks - unripe` is `Σ clicks · decay · G(age)` with `G(a) = 1 - exp(-a/τ)`. Both sums are plain
 * exponentials, so moving in two steps equals moving in one, and shards may be added up (P32, P34).
 */

export const HALF_LIFE_MS = 14 * 86_400_000

export interface Evidence {
  readonly clicks: number
  readonly unripe: number // of the clicks: those whose orders are still to come
  readonly orders: number
  readonly logValue: number // Σ ln(order value in micros)
  readonly logValueSquare: number // Σ ln²
  readonly atMs: number // the instant these counts are as of
}

export function noEvidence(atMs: number): Evidence {
  return { clicks: 0, unripe: 0, orders: 0, logValue: 0, logValueSquare: 0, atMs }
}

/** The same evidence as seen at another instant; `delayMs` is τ, the mean wait for an order. */
export function evidenceAt(evidence: Evidence, atMs: number, delayMs: number): Evidence {
  const ageMs = atMs - evidence.atMs
  const decay = 2 ** (-ageMs / HALF_LIFE_MS)
  return {
    clicks: evidence.clicks * decay,
    unripe: evidence.unripe * decay * Math.exp(-ageMs / delayMs),
    orders: evidence.orders * decay,
    logValue: evidence.logValue * decay,
    logValueSquare: evidence.logValueSquare * decay,
    atMs,
  }
}

/** Adds two records of one instant. */
export function addEvidence(left: Evidence, right: Evidence): Evidence {
  if (left.atMs !== right.atMs) throw new RangeError('evidence of two instants cannot be added')
  return {
    clicks: left.clicks + right.clicks,
    unripe: left.unripe + right.unripe,
    orders: left.orders + right.orders,
    logValue: left.logValue + right.logValue,
    logValueSquare: left.logValueSquare + right.logValueSquare,
    atMs: left.atMs,
  }
}

/** The evidence without a part of it, of one instant; rounding never leaves less than nothing. */
export function withoutEvidence(all: Evidence, part: Evidence): Evidence {
  if (all.atMs !== part.atMs) throw new RangeError('evidence of two instants cannot be subtracted')
  return {
    clicks: Math.max(0, all.clicks - part.clicks),
    unripe: Math.max(0, all.unripe - part.unripe),
    orders: Math.max(0, all.orders - part.orders),
    logValue: all.logValue - part.logValue,
    logValueSquare: Math.max(0, all.logValueSquare - part.logValueSquare),
    atMs: all.atMs,
  }
}

/** A click as of its own instant: all of it still unripe. */
export function clickEvidence(atMs: number): Evidence {
  return { ...noEvidence(atMs), clicks: 1, unripe: 1 }
}

/** An order as of its own instant. */
export function orderEvidence(atMs: number, valueMicros: number): Evidence {
  const log = Math.log(Math.max(1, valueMicros))
  return { ...noEvidence(atMs), orders: 1, logValue: log, logValueSquare: log * log }
}

/** Clicks old enough to have brought their orders, `n` of economics 3. */
export function ripeClicks(evidence: Evidence): number {
  return Math.max(0, evidence.clicks - evidence.unripe)
}
