/**
 * The nightly fit: how much merchants differ, and publishers at one merchant.
 *
 * K0 and K1 maximise the beta-binomial likelihood of the counts of merchants and pairs, on a
 * logarithmic grid, and are smoothed with yesterday's (docs/spec/prediction.md#order-rate).
 * Everything else is moments. Pure: evidence in, model out.
 */
import {
  addEvidence,
  countsOf,
  type DelayCurve,
  type Evidence,
  noEvidence,
  pairAt,
  ripeClicks,
  wholeClicks,
} from './evidence.ts'
import type { PairEvidence } from './evidence-store.ts'
import { type Grid, gridSearch } from './grid-search.ts'
import { logGammaRise } from './log-gamma.ts'
import { networkLogMean, networkRate } from './network-prior.ts'
import {
  atRate,
  type Counts,
  estimateRate,
  ownSpread,
  type RateModel,
  UNFITTED_VALUE,
  type ValueModel,
} from './predict.ts'
import { delayOf, type PredictionModel } from './prediction-model.ts'

/** From e to e¹¹, fine enough that neighbours differ by less than a tenth. */
const GRID: Grid = { least: Math.E, most: Math.exp(11), steps: 120 }
/** Below this many orders in the whole network a fit would follow noise. */
const ORDERS_MIN = 20
/** Assumes that one of a thousand merchants or pairs is an outlier. */
const LOG_UNLIKE = Math.log(0.001)
const VALUE_K_MIN = 1
const VALUE_K_MAX = 1_000
/**
 * Cap on the variance of one merchant's order values, relative to the default: a larger one is not
 * caused by basket size. Otherwise ten orders of a cent and ten of $5,000 would inflate the order
 * values of all merchants 18 times.
 */
const VALUE_VARIANCE_MAX = 2
/** Orders at which a merchant has half of its full weight in the network's values. */
const SPREAD_HALF_ORDERS = 5
/** Cap on a group's distance from the wider mean, as a power of e. */
const AWAY_MAX = 2

/** One group of a beta-binomial: its counts and the rate around which it varies. */
export interface RateGroup extends Counts {
  readonly rate: number
}

/**
 * The K within the grid at which BetaBinomial(y | n, Kθ, K(1−θ)) makes the groups most likely. Each
 * group may also be an outlier with a uniform rate. Otherwise a thousand fake clicks with an order
 * each would cut K1 to a fourteenth within three days.
 */
export function fitConcentration(groups: readonly RateGroup[]): number {
  const shown = groups
    // A rate of one order per click or more is not a probability, and would make the sum NaN.
    .filter(({ clicks, rate }) => clicks > 0 && rate < 1)
    .map((group) => ({ group, unlike: logLikelihood({ ...group, rate: 1 / 2 }, 2) }))
  return gridSearch(GRID, (k) =>
    shown.reduce(
      (sum, { group, unlike }) => sum + logSum(logLikelihood(group, k), LOG_UNLIKE + unlike),
      0,
    ),
  )
}

function logLikelihood({ clicks, orders, rate }: RateGroup, k: number): number {
  const misses = clicks - orders // Decayed counts, which need not be whole.
  // B(a + orders, b + misses) / B(a, b) with a + b = k. Most pairs have no order at all.
  const [a, b] = [k * rate, k * (1 - rate)]
  return logGammaRise(a, orders) + logGammaRise(b, misses) - logGammaRise(k, orders + misses)
}

/** ln(e^one + e^other), without underflow. */
function logSum(one: number, other: number): number {
  return Math.max(one, other) + Math.log1p(Math.exp(-Math.abs(one - other)))
}

interface Group {
  readonly merchant: Evidence
  readonly pairs: readonly Evidence[]
  readonly curve: DelayCurve
}

/**
 * Fits the model as of `nowMs`, smoothed with yesterday's; yesterday's itself while the network has
 * too few orders. Delays and returns are not in the evidence, and stay unchanged.
 */
export function fitModel(
  evidence: readonly PairEvidence[],
  { yesterday, nowMs }: { yesterday: PredictionModel; nowMs: number },
): PredictionModel {
  const groups = groupByMerchant(evidence, yesterday, nowMs)
  const orders = groups.reduce((sum, { merchant }) => sum + merchant.orders, 0)
  if (orders < ORDERS_MIN) return yesterday
  return {
    ...yesterday,
    rates: fitRates(groups, yesterday.rates),
    values: fitValues(groups, yesterday.values),
  }
}

function groupByMerchant(
  evidence: readonly PairEvidence[],
  model: PredictionModel,
  nowMs: number,
): Group[] {
  const byMerchant = Map.groupBy(evidence, ({ merchId }) => merchId)
  return [...byMerchant].map(([merchId, held]) => {
    const pairs = held.map((pair) => pairAt(pair.evidence, nowMs, model.halfLife))
    const none = noEvidence(nowMs)
    const merchant = pairs.reduce((sum, part) => addEvidence(sum, part, model.halfLife), none)
    return { merchant, pairs, curve: delayOf(model, merchId) }
  })
}

function fitRates(groups: readonly Group[], yesterday: RateModel): RateModel {
  const ripe = groups.reduce((sum, { merchant, curve }) => sum + ripeClicks(merchant, curve), 0)
  const orders = groups.reduce((sum, { merchant }) => sum + merchant.orders, 0)
  if (ripe <= orders) return yesterday
  const counts = groups.map(({ merchant, curve }) => countsOf(merchant, curve))
  const globalRate = networkRate(counts)
  const before = atRate(yesterday, globalRate)
  const merchants = groups.map(({ merchant, curve }) => ({
    ...wholeCounts(merchant, curve),
    rate: globalRate,
  }))
  const k0 = smoothed(fitConcentration(merchants), before.k0)
  const model = { globalRate, k0, k1: before.k1 }
  const pairs = groups.flatMap(({ pairs: held, curve }, index) =>
    held.map((pair) => {
      const merchant = counts[index] ?? countsOf(pair, curve)
      const { merchantRate } = estimateRate(model, merchant, countsOf(pair, curve))
      return { ...wholeCounts(pair, curve), rate: merchantRate }
    }),
  )
  return { ...model, k1: smoothed(fitConcentration(pairs), before.k1) }
}

/** Converts decayed counts for the likelihood to whole counts of equal variance. */
function wholeCounts(evidence: Evidence, curve: DelayCurve): Counts {
  const { clicks, orders } = countsOf(evidence, curve)
  const factor = wholeClicks(evidence)
  return { clicks: factor * clicks, orders: factor * orders }
}

/** Halfway to yesterday's on the logarithmic scale of the grid. */
function smoothed(fitted: number, yesterday: number): number {
  return Math.sqrt(fitted * yesterday)
}

function fitValues(groups: readonly Group[], yesterday: ValueModel): ValueModel {
  const merchants = groups.map(({ merchant }) => merchant)
  const globalLogMean = networkLogMean(merchants)
  const freedom = groups.reduce((sum, { pairs }) => sum + squaresWithin(pairs).freedom, 0)
  if (freedom < ORDERS_MIN) return { ...yesterday, globalLogMean }
  const spreads = groups.map((group) => ({ ...group, variance: varianceWithin(group, yesterday) }))
  const variance = merchantMean(spreads, (of) => of.variance, UNFITTED_VALUE.variance)
  const logRatio = merchantMean(
    spreads,
    ({ merchant }) => ownSpread(merchant)?.logRatio ?? 0,
    UNFITTED_VALUE.logRatio,
  )
  const betweenMerchants = between(
    spreads.map(({ merchant, variance: own }) => ({ ...merchant, variance: own })),
  )
  const betweenPairs = spreads.map(({ pairs, variance: own }) =>
    between(pairs.map((pair) => ({ ...pair, variance: own }))),
  )
  return {
    ...{ globalLogMean, variance, logRatio },
    k0: smoothed(concentration(variance, [betweenMerchants]), yesterday.k0),
    k1: smoothed(concentration(variance, betweenPairs), yesterday.k1),
  }
}

/**
 * Over merchants, each weighted by its orders but as one at most; the default counts as one more.
 */
function merchantMean<T extends Group>(
  groups: readonly T[],
  read: (group: T) => number,
  usual: number,
): number {
  const sums = groups.reduce(
    (sum, group) => {
      const orders = Math.max(0, group.merchant.orders - 1)
      const weight = orders / (orders + SPREAD_HALF_ORDERS)
      return {
        value: sum.value + weight * Math.min(VALUE_VARIANCE_MAX, read(group)),
        weight: sum.weight + weight,
      }
    },
    { value: usual, weight: 1 },
  )
  return sums.value / sums.weight
}

interface Squares {
  readonly squares: number
  readonly freedom: number // degrees of freedom
}

/** Squares around each pair's own mean. */
function squaresWithin(pairs: readonly Evidence[]): Squares {
  return pairs.reduce(
    (sum, { orders, logValue, logValueSquare }) => {
      if (orders <= 1) return sum
      const squares = Math.max(0, logValueSquare - (logValue * logValue) / orders)
      return { squares: sum.squares + squares, freedom: sum.freedom + orders - 1 }
    },
    { squares: 0, freedom: 0 },
  )
}

/** Variance of a merchant's ln(value) within a pair, shrunk to yesterday's. */
function varianceWithin({ pairs }: Group, yesterday: ValueModel): number {
  const { squares, freedom } = squaresWithin(pairs)
  return (squares + SPREAD_HALF_ORDERS * yesterday.variance) / (freedom + SPREAD_HALF_ORDERS)
}

interface Scatter {
  readonly orders: number
  readonly logValue: number
  readonly variance: number // of one order
}

/** Variance of group means beyond the sampling variance of their orders: its two sums. */
function between(groups: readonly Scatter[]): {
  readonly excess: number
  readonly weight: number
} {
  const shown = groups.filter(({ orders }) => orders > 0)
  if (shown.length < 2) return { excess: 0, weight: 0 }
  // Each group is weighted by its orders, but as one at most: no group decides for all.
  const means = shown.map(({ orders, logValue, variance }) => ({
    weight: orders / (orders + SPREAD_HALF_ORDERS),
    mean: logValue / orders,
    chance: variance / orders,
  }))
  const total = (read: (of: (typeof means)[number]) => number) =>
    means.reduce((sum, of) => sum + of.weight * read(of), 0)
  const weight = total(() => 1)
  const middle = total(({ mean }) => mean) / weight
  const square = total(({ mean }) => Math.min(AWAY_MAX, Math.abs(mean - middle)) ** 2)
  const free = (shown.length - 1) / shown.length
  return { excess: square - free * total(({ chance }) => chance), weight: free * weight }
}

/** σ² within over σ² between: the orders that the wider mean is worth. */
function concentration(
  variance: number,
  parts: readonly { readonly excess: number; readonly weight: number }[],
): number {
  const excess = parts.reduce((sum, part) => sum + part.excess, 0)
  const weight = parts.reduce((sum, part) => sum + part.weight, 0)
  if (excess <= 0 || weight <= 0) return VALUE_K_MAX
  return Math.min(VALUE_K_MAX, Math.max(VALUE_K_MIN, (variance * weight) / excess))
}
