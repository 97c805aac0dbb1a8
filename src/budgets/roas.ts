/**
 * How much does a CPC campaign bid so that its return on ad spend meets its goal on average?
 *
 * `bid = min(typed bid, θ·A/τ · m)`: the order value expected of a click over the goal τ, times
 * a multiplier. Second prices lie below bids, so a campaign with m = 1 returns more than its
 * goal and buys half of the clicks that it could. A worker moves `m` once an hour until the mean
 * price of a click is the one that the goal allows: docs/spec/budgets.md#roas-goals.
 *
 * Pure: what was seen goes in, the next multiplier comes out.
 */
import { estimateChangingRate, type Span } from '../prediction/changing-rate.ts'
import type { PairEstimate } from '../prediction/click-estimates.ts'

/** A goal is met on average over these days. */
export const ROAS_DAYS = 14
/**
 * Clicks are counted in spans of this length. Shorter ones would take the difference between day
 * and night for a change.
 */
export const ROAS_SPAN_HOURS = 6
export const ROAS_SPANS = (ROAS_DAYS * 24) / ROAS_SPAN_HOURS
const SPANS_PER_DAY = 24 / ROAS_SPAN_HOURS

export const ROAS_MULTIPLIER_MIN = 0.2
/** A rival that knows of the multiplier could drive the price of single clicks up to here. */
export const ROAS_MULTIPLIER_MAX = 5

/** Orders per click, or order values, change every ten days on average. */
const CHANGE_CHANCE = 1 / (10 * SPANS_PER_DAY)
/** Orders that the forecast is worth after each change: rates differ by half between merchants. */
const FORECAST_ORDERS = 3
/** Orders that the forecast of their value is worth, and the squared scatter assumed for these. */
const FORECAST_VALUES = 5
const FORECAST_SCATTER = 1
/** And units of scatter at least, so that one order of $10 million among small ones says little. */
const FORECAST_UNITS_MIN = 2
/** Values that scatter less than this are still not taken for exact. */
const SCATTER_MIN = 0.05

/** Chance alone leaves this much relative doubt; only more than it lowers the price. */
const DOUBT_FREE = 0.02

/** The most that the account of past days moves the price of a click, as parts of it. */
const SURPLUS_MAX = 0.05
/** A lower price loses more volume than the smaller deficit is worth. */
const DEFICIT_MAX = 0.25
/** Periods shorter than ROAS_DAYS may be this part below the goal before it is made up for. */
const SHORT_PERIOD_SLACK = 0.03
/** A surplus or deficit of all ROAS_DAYS is spread over so many days. */
const REPAY_DAYS = 7
/** The clicks to come are as many as in the last days. */
const TRAFFIC_DAYS = 2

/** The part of the relative error of the price that one hour corrects. */
const GAIN = 0.5
/** Clicks of an hour that correct half of that. */
const HALF_GAIN_CLICKS = 10
/**
 * What an hour without clicks forgets: half of the multiplier's distance from 1 after a week. A bid
 * that the multiplier took below every floor would never get another click.
 */
const FORGOTTEN_PER_HOUR = 1 - 0.5 ** (1 / (7 * 24))

/** Clicks of a campaign in ROAS_SPAN_HOURS, and their known orders. */
export interface RoasSpan {
  readonly clicks: number // paid
  /** Clicks times the share of their orders that has come by their age. */
  readonly ripeClicks: number
  readonly spendMicros: number
  readonly orders: number // clicks that brought one
  /** Order value that is expected to last. */
  readonly valueMicros: number
}

export interface RoasMeasure {
  readonly goal: number // τ: order value per dollar spent
  /** At most ROAS_SPANS, the oldest first; the last one ends now. */
  readonly spans: readonly RoasSpan[]
  /** Σ of the squared order values of all spans. */
  readonly squaredValue: number
  readonly lastHour: { readonly clicks: number; readonly spendMicros: number }
  readonly forecast: { readonly ordersPerClick: number; readonly orderMicros: number }
}

/** The next multiplier, an hour after the last step. */
export function stepRoasMultiplier(multiplier: number, measure: RoasMeasure): number {
  const { clicks, spendMicros } = measure.lastHour
  if (clicks === 0) return multiplier + (1 - multiplier) * FORGOTTEN_PER_HOUR
  const error = 1 - spendMicros / clicks / roasPrice(measure)
  const gain = (GAIN * clicks) / (clicks + HALF_GAIN_CLICKS)
  const next = multiplier * Math.exp(gain * Math.max(-1, error))
  return Math.min(ROAS_MULTIPLIER_MAX, Math.max(ROAS_MULTIPLIER_MIN, next))
}

/** Micros that a click may cost on average from now on, so that the goal is met. */
export function roasPrice(measure: RoasMeasure): number {
  const { valueMicros, doubt } = clickValue(measure)
  // Paying too much cannot be made up for once a lower bid wins a tenth of the clicks, so a change
  // that is only suspected lowers the price already.
  const price = (valueMicros * (1 - Math.max(0, doubt - DOUBT_FREE))) / measure.goal
  const change = accountPerClick(measure, valueMicros)
  return price + Math.min(SURPLUS_MAX * price, Math.max(-DEFICIT_MAX * price, change))
}

/** The order value that a click of now is expected to bring, with its relative doubt. */
export function clickValue({
  spans,
  squaredValue,
  forecast,
}: Pick<RoasMeasure, 'spans' | 'squaredValue' | 'forecast'>): {
  readonly valueMicros: number
  readonly doubt: number // Below 1/2.
} {
  const { ordersPerClick, orderMicros } = forecast
  const changeChance = CHANGE_CHANCE
  const ofClicks = spans.map((of): Span => ({ exposure: of.ripeClicks, count: of.orders }))
  const orders = estimateChangingRate(ofClicks, {
    ...{ rate: ordersPerClick, count: FORECAST_ORDERS, changeChance },
  })
  const unitMicros = valueUnit(spans, squaredValue, orderMicros)
  const ofOrders = spans.map(
    (of): Span => ({ exposure: of.orders, count: of.valueMicros / unitMicros }),
  )
  const count = Math.max(FORECAST_UNITS_MIN, (FORECAST_VALUES * orderMicros) / unitMicros)
  const units = estimateChangingRate(ofOrders, {
    ...{ rate: orderMicros / unitMicros, count, changeChance },
  })
  return {
    valueMicros: orders.rate * units.rate * unitMicros,
    doubt: Math.min(1 / 2, orders.doubt / orders.rate),
  }
}

/**
 * A sum of order values scatters as a Poisson count of such units does: their variance over their
 * mean, shrunk towards the usual one.
 */
function valueUnit(spans: readonly RoasSpan[], squaredValue: number, orderMicros: number): number {
  const orders = sumOf(spans, (of) => of.orders) + FORECAST_VALUES
  const value = sumOf(spans, (of) => of.valueMicros) + FORECAST_VALUES * orderMicros
  const square = squaredValue + FORECAST_VALUES * (1 + FORECAST_SCATTER) * orderMicros ** 2
  const mean = value / orders
  return Math.max(SCATTER_MIN * mean, square / value - mean)
}

/**
 * Micros by which clicks to come may cost more than they are worth, or must cost less, because of
 * those before. Every running period of ROAS_DAYS counts, from the latest to the one that ends now.
 * The one with the largest deficit for its remaining clicks decides.
 */
function accountPerClick({ spans, goal }: RoasMeasure, valueMicros: number): number {
  const recent = spans.slice(-TRAFFIC_DAYS * SPANS_PER_DAY)
  const clicksPerSpan = Math.max(
    1 / SPANS_PER_DAY,
    sumOf(recent, ({ clicks }) => clicks) / recent.length,
  )
  let [worth, spend, least] = [0, 0, Number.POSITIVE_INFINITY]
  for (const [age, of] of spans.toReversed().entries()) {
    worth += (of.valueMicros + valueMicros * (of.clicks - of.ripeClicks)) / goal
    spend += of.spendMicros
    const isWhole = age === ROAS_SPANS - 1
    const slack = isWhole ? 0 : SHORT_PERIOD_SLACK
    const left = isWhole
      ? REPAY_DAYS * SPANS_PER_DAY
      : Math.max(SPANS_PER_DAY, ROAS_SPANS - 1 - age)
    const perClick = (worth - (1 - slack) * spend) / (left * clicksPerSpan)
    least = Math.min(least, perClick + (slack * valueMicros) / goal)
  }
  return least
}

function sumOf<T>(parts: readonly T[], read: (part: T) => number): number {
  return parts.reduce((sum, part) => sum + read(part), 0)
}

/** What a click is worth to a goal in micros: the ceiling of its bid. None: no ceiling. */
export function roasCeiling(
  estimate: Sold & Pick<PairEstimate, 'rate'>,
  goal: number | null,
): number {
  if (goal === null) return Number.POSITIVE_INFINITY
  return (estimate.rate.rate * lastingValue(estimate)) / goal
}

type Sold = Pick<PairEstimate, 'value' | 'returnShare' | 'approvedShare'>

/** Micros that are expected to last of an order: neither returned nor rejected. */
export function lastingValue({ value, returnShare, approvedShare }: Sold): number {
  return value.meanMicros * (1 - returnShare) * approvedShare
}

/** Whole micros to bid under a ceiling, never above the configured bid. */
export function roasBid(bidMicros: number, ceilingMicros: number, multiplier: number): number {
  return Math.min(bidMicros, Math.floor(ceilingMicros * multiplier))
}
