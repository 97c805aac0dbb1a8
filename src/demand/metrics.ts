/** Figures that say how good predicted probabilities were (economics 3). */
import type { RateEstimate } from './predict.ts'

/** One group that was predicted together, and what happened to it. */
export interface Outcome {
  readonly clicks: number
  readonly orders: number
  readonly predicted: number // probability of an order per click
  /** The posterior behind the prediction; null: it claims no uncertainty. */
  readonly posterior: RateEstimate | null
}

export interface Bin {
  readonly clicks: number
  readonly predicted: number
  readonly actual: number
}

export interface Metrics {
  readonly logLoss: number // per click, natural logarithm
  /** Log loss over that of the base rate: under 1 is better; null where an order a click came. */
  readonly normalisedEntropy: number | null
  readonly calibration: number // Σ predicted / Σ actual orders
  readonly calibrationError: number // ECE: mean |predicted − actual| over bins of equal clicks
  readonly weightedError: number // wAPE: Σ |predicted − actual orders| / Σ actual
  /** Part of the outcomes inside the 80 % predictive interval; null without a posterior. */
  readonly coverage: number | null
}

const BINS = 20
const INTERVAL = { low: 0.1, high: 0.9 }

/** Measures predictions on their outcomes; each click counts the same. */
export function measure(outcomes: readonly Outcome[]): Metrics {
  const clicks = sum(outcomes, (of) => of.clicks)
  const orders = sum(outcomes, (of) => of.orders)
  const expected = sum(outcomes, (of) => of.clicks * of.predicted)
  const loss = sum(outcomes, logLossOf) / clicks
  const base = orders / clicks
  const bins = binsOf(outcomes)
  return {
    logLoss: loss,
    normalisedEntropy: base < 1 ? loss / entropy(base) : null,
    calibration: expected / orders,
    calibrationError:
      sum(bins, (bin) => bin.clicks * Math.abs(bin.predicted - bin.actual)) / clicks,
    weightedError: sum(outcomes, (of) => Math.abs(of.clicks * of.predicted - of.orders)) / orders,
    coverage: coverageOf(outcomes),
  }
}

function sum<T>(items: readonly T[], read: (item: T) => number): number {
  return items.reduce((total, item) => total + read(item), 0)
}

function logLossOf({ clicks, orders, predicted }: Outcome): number {
  // A click may bring more than one order; it counts as one.
  const hits = Math.min(orders, clicks)
  return -(hits * Math.log(predicted) + (clicks - hits) * Math.log(1 - predicted))
}

function entropy(rate: number): number {
  return -(rate * Math.log(rate) + (1 - rate) * Math.log(1 - rate))
}

/**
 * Sorted by prediction and cut into bins of equal clicks; a group may lie in several of them. Equal
 * predictions are one group: which came first must not decide what lies together.
 */
export function binsOf(outcomes: readonly Outcome[]): Bin[] {
  const clicks = sum(outcomes, (of) => of.clicks)
  const sorted = [...Map.groupBy(outcomes, ({ predicted }) => predicted)]
    .map(([predicted, group]) => ({
      predicted,
      clicks: sum(group, (of) => of.clicks),
      orders: sum(group, (of) => of.orders),
    }))
    .sort((left, right) => left.predicted - right.predicted)
  const size = clicks / BINS
  const bins = Array.from({ length: BINS }, () => ({ clicks: 0, expected: 0, orders: 0 }))
  let before = 0
  for (const { clicks: count, orders, predicted } of sorted) {
    for (let placed = 0; placed < count; ) {
      const at = Math.min(BINS - 1, Math.floor((before + placed) / size + 1e-9))
      const isLast = at === BINS - 1
      const part = isLast
        ? count - placed
        : Math.min(count - placed, (at + 1) * size - before - placed)
      const bin = bins[at]
      if (bin === undefined) break
      bin.clicks += part
      bin.expected += part * predicted
      bin.orders += part * (orders / count)
      placed += Math.max(part, Number.EPSILON * clicks)
    }
    before += count
  }
  return bins
    .filter((bin) => bin.clicks > 0)
    .map((bin) => ({
      clicks: bin.clicks,
      predicted: bin.expected / bin.clicks,
      actual: bin.orders / bin.clicks,
    }))
}

/**
 * How much of each outcome lies between the 10 % and the 90 % quantile of what was predicted for
 * it, each click counting the same. Orders are whole, so an outcome covers a stretch of the
 * predictive distribution; the part of the stretch inside the interval counts. A right posterior
 * gives .8.
 */
function coverageOf(outcomes: readonly Outcome[]): number | null {
  let inside = 0
  let clicks = 0
  for (const { clicks: count, orders, posterior } of outcomes) {
    if (posterior === null) return null
    const { below, upTo } = predictiveShares(posterior, { clicks: count, orders })
    const overlap = Math.min(upTo, INTERVAL.high) - Math.max(below, INTERVAL.low)
    inside += count * (upTo > below ? Math.max(0, overlap) / (upTo - below) : 0)
    clicks += count
  }
  return clicks === 0 ? null : inside / clicks
}

/** P(Y < y) and P(Y ≤ y) of orders Y among n clicks: a Poisson mixed over the gamma posterior. */
export function predictiveShares(
  { alpha, nEff }: RateEstimate,
  { clicks, orders }: { clicks: number; orders: number },
): { below: number; upTo: number } {
  const success = clicks / (clicks + nEff)
  // As logarithms: where 750 orders are expected, that none comes is too unlikely for a number.
  let logMass = alpha * Math.log1p(-success)
  let below = 0
  for (let count = 0; count < orders; count++) {
    below += Math.exp(logMass)
    logMass += Math.log(((alpha + count) / (count + 1)) * success)
  }
  return { below, upTo: Math.min(1, below + Math.exp(logMass)) }
}
