/**
 * How much do merchants differ, and publishers at one merchant? The nightly fit of the prediction.
 *
 * K0 and K1 maximise the beta-binomial likelihood of what merchants and pairs have shown, on a
 * logarithmic grid, and are smoothed with yesterday's (economics 3). Everything else is moments.
 * Pure: evidence in, model out.
 */
import { addEvidence, countsOf, type Evidence, noEvidence, pairAt, ripeClicks } from './evidence.ts'
import type { PairEvidence } from './evidence-store.ts'
import { type Grid, likeliest } from './likeliest.ts'
import { logGammaRise } from './log-gamma.ts'
import { networkRate } from './network-rate.ts'
import { networkLogMean } from './network-value.ts'
import { atRate, type Counts, estimateRate, type RateModel, type ValueModel } from './predict.ts'
import { delayOf, type PredictionModel } from './prediction-model.ts'

/** From e to e¹¹, fine enough that neighbours differ by less than a tenth. */
const GRID: Grid = { least: Math.E, most: Math.exp(11), steps: 120 }
/** Under so many orders in the whole network a fit would follow noise. */
const ORDERS_MIN = 20
/** Of a thousand merchants, or pairs, one is like no other. */
const LOG_UNLIKE = Math.log(0.001)
const VALUE_K_MIN = 1
const VALUE_K_MAX = 1_000
/**
 * How far the order values of a merchant may scatter, as the network believes. Of more than twice
 * what is usual something else is told than baskets, and a mean of `exp(μ + s²/2)` passes it on to
 * every merchant: ten orders of a cent and ten of $5,000 made all others' worth 18 times as much.
 */
const VALUE_VARIANCE_MAX = 2

/** One group of a beta-binomial: its counts and the rate that it scatters around. */
export interface RateGroup extends Counts {
  readonly rate: number
}

/**
 * The K whose BetaBinomial(y | n, Kθ, K(1−θ)) makes the groups most likely, within the grid. A
 * group may also be like no other, with any rate as likely as any: a thousand clicks with an order
 * each, all made up, had else put K1 at a fourteenth within three days, and pairs were judged by
 * the few clicks of their own.
 */
export function fitConcentration(groups: readonly RateGroup[]): number {
  const shown = groups
    // A rate of an order a click and above is no chance, and would make the whole sum NaN.
    .filter(({ clicks, rate }) => clicks > 0 && rate < 1)
    .map((group) => ({ group, unlike: logLikelihood({ ...group, rate: 1 / 2 }, 2) }))
  return likeliest(GRID, (k) =>
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

/** ln(e^one + e^other), also where both are too small for a number. */
function logSum(one: number, other: number): number {
  return Math.max(one, other) + Math.log1p(Math.exp(-Math.abs(one - other)))
}

interface Group {
  readonly merchant: Evidence
  readonly pairs: readonly Evidence[]
}

/**
 * Fits the model as of `nowMs`, smoothed with yesterday's; yesterday's itself where the network has
 * shown too little. How long orders take and what comes back is not in the evidence, and stays.
 */
export function fitModel(
  evidence: readonly PairEvidence[],
  { yesterday, nowMs }: { yesterday: PredictionModel; nowMs: number },
): PredictionModel {
  const groups = groupByMerchant(evidence, yesterday, nowMs)
  const network = sumOf([...groups.values()].map(({ merchant }) => merchant))
  if (network.orders < ORDERS_MIN) return yesterday
  return {
    ...yesterday,
    rates: fitRates([...groups.values()], { network, yesterday: yesterday.rates }),
    values: fitValues([...groups.values()], { network, yesterday: yesterday.values }),
  }
}

function groupByMerchant(
  evidence: readonly PairEvidence[],
  model: PredictionModel,
  nowMs: number,
): Map<number, Group> {
  const byMerchant = Map.groupBy(evidence, ({ merchId }) => merchId)
  return new Map(
    [...byMerchant].map(([merchId, held]) => {
      const delayMs = delayOf(model, merchId)
      const pairs = held.map((pair) => pairAt(pair.evidence, nowMs, delayMs))
      return [merchId, { merchant: sumOf(pairs), pairs }]
    }),
  )
}

/** All of one instant, so that the wait does not matter. */
function sumOf(parts: readonly Evidence[]): Evidence {
  const [first] = parts
  if (first === undefined) return noEvidence(0)
  return parts.slice(1).reduce((sum, part) => addEvidence(sum, part, 1), first)
}

function fitRates(
  groups: readonly Group[],
  { network, yesterday }: { network: Evidence; yesterday: RateModel },
): RateModel {
  if (ripeClicks(network) <= network.orders) return yesterday
  const counts = groups.map(({ merchant }) => countsOf(merchant))
  const globalRate = networkRate(counts)
  const before = atRate(yesterday, globalRate)
  const merchants = counts.map((of) => ({ ...of, rate: globalRate }))
  const k0 = smoothed(fitConcentration(merchants), before.k0)
  const model = { globalRate, k0, k1: before.k1 }
  const pairs = groups.flatMap(({ merchant, pairs: held }) =>
    held.map((pair) => {
      const own = countsOf(pair)
      return { ...own, rate: estimateRate(model, countsOf(merchant), own).merchantRate }
    }),
  )
  return { ...model, k1: smoothed(fitConcentration(pairs), before.k1) }
}

/** Halfway to yesterday's on the logarithmic scale of the grid. */
function smoothed(fitted: number, yesterday: number): number {
  return Math.sqrt(fitted * yesterday)
}

function fitValues(
  groups: readonly Group[],
  { network, yesterday }: { network: Evidence; yesterday: ValueModel },
): ValueModel {
  const globalLogMean = networkLogMean(groups.map(({ merchant }) => merchant))
  const spread = sumOfSquares(groups.map(squaresOfMerchant))
  if (spread.freedom < ORDERS_MIN) return { ...yesterday, globalLogMean }
  const variance = spread.squares / spread.freedom
  const merchants = groups.map(({ merchant }) => merchant)
  const orderMean = network.logValue / network.orders
  const between = (parts: readonly Evidence[], mean: number) =>
    varianceBetween(parts, { mean, variance })
  const ofPairs = groups
    .filter(({ merchant }) => merchant.orders > 0)
    .map(({ merchant, pairs: held }) => between(held, merchant.logValue / merchant.orders))
  return {
    globalLogMean,
    variance,
    k0: smoothed(concentration(variance, [between(merchants, orderMean)]), yesterday.k0),
    k1: smoothed(concentration(variance, ofPairs), yesterday.k1),
  }
}

interface Squares {
  readonly squares: number
  readonly freedom: number // how many of them are free
}

function sumOfSquares(parts: readonly Squares[]): Squares {
  return {
    squares: parts.reduce((sum, { squares }) => sum + squares, 0),
    freedom: parts.reduce((sum, { freedom }) => sum + freedom, 0),
  }
}

function squaresOfMerchant({ pairs }: Group): Squares {
  const { squares, freedom } = sumOfSquares(pairs.map(squaresWithin))
  return { squares: Math.min(squares, VALUE_VARIANCE_MAX * freedom), freedom }
}

/** Squares around a pair's own mean. */
function squaresWithin({ orders, logValue, logValueSquare }: Evidence): Squares {
  if (orders <= 1) return { squares: 0, freedom: 0 }
  const squares = Math.max(0, logValueSquare - (logValue * logValue) / orders)
  return { squares, freedom: orders - 1 }
}

/** What the means of groups scatter more than their orders alone would make them: its two sums. */
function varianceBetween(
  groups: readonly Evidence[],
  { mean, variance }: { mean: number; variance: number },
): { excess: number; weight: number } {
  const shown = groups.filter(({ orders }) => orders > 0)
  const total = shown.reduce((sum, { orders }) => sum + orders, 0)
  if (shown.length < 2) return { excess: 0, weight: 0 }
  const scatter = shown.reduce(
    (sum, { orders, logValue }) => sum + orders * (logValue / orders - mean) ** 2,
    0,
  )
  const squares = shown.reduce((sum, { orders }) => sum + orders * orders, 0)
  return { excess: scatter - (shown.length - 1) * variance, weight: total - squares / total }
}

/** σ² within over σ² between: the orders that the wider mean is worth. */
function concentration(
  variance: number,
  parts: readonly { excess: number; weight: number }[],
): number {
  const excess = parts.reduce((sum, part) => sum + part.excess, 0)
  const weight = parts.reduce((sum, part) => sum + part.weight, 0)
  if (excess <= 0 || weight <= 0) return VALUE_K_MAX
  return Math.min(VALUE_K_MAX, Math.max(VALUE_K_MIN, (variance * weight) / excess))
}
