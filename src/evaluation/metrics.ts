/** Metrics of predicted probabilities (docs/spec/prediction.md#metrics). */
import type { RateEstimate } from '../prediction/predict.ts'

/** One group that was predicted together, and its outcome. */
export interface Outcome {
  readonly clicks: number
  readonly orders: number
  readonly predicted: number // probability of an order per click
  /** The posterior behind the prediction; null: the method states no uncertainty. */
  readonly posterior: Pick<RateEstimate, 'alpha' | 'nEff'> | null
  /** Outcomes of one group are consecutive and judged together, see `coverage`. */
  readonly group?: string
  readonly merchantClicks?: number // Clicks that its merchant had before.
}

export interface Bin {
  readonly clicks: number
  readonly predicted: number
  readonly actual: number
}

export interface Metrics {
  readonly logLoss: number // per click, natural logarithm
  /**
   * Log loss over that of the base rate: under 1 is better; null when every click brought an order.
   */
  readonly normalisedEntropy: number | null
  readonly calibration: number // Σ predicted / Σ actual orders
  /** Mean |predicted − actual| of bins of equal clicks, over the base rate: 0.5 for half of it. */
  readonly calibrationError: number
  readonly calibrationByAge: readonly AgeCalibration[]
  readonly weightedError: number // wAPE: Σ |predicted − actual orders| / Σ actual
  /**
   * Share of the cohorts inside the 80 % predictive interval; null without a posterior or a cohort.
   * A cohort is the part of a group with EXPECTED_MIN expected orders: with fewer, nearly any
   * interval contains the outcome.
   */
  readonly coverage: number | null
  readonly cohorts: number
}

/** Calibration of the outcomes by the earlier clicks of their merchants. */
export interface AgeCalibration {
  readonly fromClicks: number
  readonly orders: number
  readonly calibration: number | null // null without orders
}

/** Limits of merchants' age groups, in clicks. */
const AGES = [0, 100, 300, 1_000, 3_000]
const EXPECTED_MIN = 10

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
      sum(bins, (bin) => bin.clicks * Math.abs(bin.predicted - bin.actual)) / orders,
    calibrationByAge: AGES.map((fromClicks, age) => byAge(outcomes, fromClicks, AGES[age + 1])),
    weightedError: sum(outcomes, (of) => Math.abs(of.clicks * of.predicted - of.orders)) / orders,
    ...coverageOf(cohortsOf(outcomes)),
  }
}

function byAge(
  outcomes: readonly Outcome[],
  fromClicks: number,
  toClicks = Number.POSITIVE_INFINITY,
): AgeCalibration {
  const found = outcomes.filter(({ merchantClicks = 0 }) => {
    return merchantClicks >= fromClicks && merchantClicks < toClicks
  })
  const orders = sum(found, (of) => of.orders)
  const expected = sum(found, (of) => of.clicks * of.predicted)
  return { fromClicks, orders, calibration: orders === 0 ? null : expected / orders }
}

/** A cohort of clicks, its orders, and the predicted gamma. */
interface ExpectedOrders {
  readonly orders: number
  readonly expected: number
  readonly alpha: number | null
}

/** The outcomes of each group in order, joined until they have EXPECTED_MIN expected orders. */
function cohortsOf(outcomes: readonly Outcome[]): ExpectedOrders[] {
  const open = new Map<string, ExpectedOrders>()
  const cohorts: ExpectedOrders[] = []
  for (const [index, { clicks, orders, predicted, posterior, group }] of outcomes.entries()) {
    const key = group ?? String(index)
    const before = open.get(key)
    const cohort = {
      orders: (before?.orders ?? 0) + orders,
      expected: (before?.expected ?? 0) + clicks * predicted,
      alpha: before === undefined ? (posterior?.alpha ?? null) : before.alpha,
    }
    if (cohort.expected < EXPECTED_MIN) open.set(key, cohort)
    else {
      open.delete(key)
      cohorts.push(cohort)
    }
  }
  return cohorts
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
 * Sorted by prediction and cut into bins of equal clicks; a group may span several bins. Equal
 * predictions form one group, so that their order does not matter.
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
 * The part of each cohort's outcome between the 10 % and the 90 % quantile of its prediction.
 * Orders are whole numbers, so an outcome covers a range of the predictive distribution; the part
 * of the range inside the interval counts. A correct posterior gives .8.
 */
function coverageOf(cohorts: readonly ExpectedOrders[]): Pick<Metrics, 'coverage' | 'cohorts'> {
  let inside = 0
  for (const { orders, expected, alpha } of cohorts) {
    if (alpha === null) return { coverage: null, cohorts: cohorts.length }
    const { below, upTo } = predictiveShares({ alpha, nEff: alpha }, { clicks: expected, orders })
    const overlap = Math.min(upTo, INTERVAL.high) - Math.max(below, INTERVAL.low)
    inside += upTo > below ? Math.max(0, overlap) / (upTo - below) : 0
  }
  return {
    coverage: cohorts.length === 0 ? null : inside / cohorts.length,
    cohorts: cohorts.length,
  }
}

/** P(Y < y) and P(Y ≤ y) of orders Y among n clicks: a Poisson mixed over the gamma posterior. */
export function predictiveShares(
  { alpha, nEff }: Pick<RateEstimate, 'alpha' | 'nEff'>,
  { clicks, orders }: { clicks: number; orders: number },
): { below: number; upTo: number } {
  const success = clicks / (clicks + nEff)
  // As logarithms: with 750 expected orders, the probability of none underflows.
  let logMass = alpha * Math.log1p(-success)
  let below = 0
  for (let count = 0; count < orders; count++) {
    below += Math.exp(logMass)
    logMass += Math.log(((alpha + count) / (count + 1)) * success)
  }
  return { below, upTo: Math.min(1, below + Math.exp(logMass)) }
}
