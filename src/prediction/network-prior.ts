/**
 * The expectation for merchants with little evidence: the order rate of the network (θ0) and the
 * value of its orders, from the other merchants' current evidence. A nightly value would lag a day
 * behind in a young network. Rules: docs/spec/prediction.md#order-rate.
 */
import { type Counts, UNFITTED, UNFITTED_VALUE, type ValueCounts } from './predict.ts'

/** Orders that θ0 is worth against a merchant's own here: the usual difference of merchants. */
const ALIKE_ORDERS = UNFITTED.k0 * UNFITTED.globalRate
/** Cap on one merchant's rate, in multiples of θ0. */
const TIMES_MAX = 2
/**
 * Bounds the weight of merchants without orders: one for every four merchants with orders, and half
 * a one at first. A merchant that pays per click need not report orders. If each counted as selling
 * nothing, twenty of them beside ten that sell at 2 % would put θ0 at .01 %.
 */
const LESS_MAX = { atFirst: 1 / 2, perSelling: 1 / 4 }
/**
 * Orders that the default rate is worth against the merchants': networks differ more than these.
 */
const USUAL_ORDERS = 1
/** Search range of ln θ0. */
const LOG_RATES = { least: Math.log(1e-9), most: 0 }

/**
 * The mean of the merchants' rates, each shrunk to it and capped at TIMES_MAX of it. A plain ratio
 * of orders to clicks would follow the merchant with the most clicks: 5,000 fake clicks without an
 * order cut the rate of three young merchants to a sixth.
 */
export function networkRate(merchants: readonly Counts[]): number {
  const { atFirst, perSelling } = LESS_MAX
  const selling = merchants.reduce((sum, { orders }) => sum + Math.min(1, orders), 0)
  const logRate = bisect(LOG_RATES, (log) => {
    const rate = Math.exp(log)
    let [more, less] = [0, 0]
    for (const { clicks, orders } of merchants) {
      const times = (orders + ALIKE_ORDERS) / (clicks * rate + ALIKE_ORDERS)
      more += Math.max(0, Math.min(TIMES_MAX, times) - 1)
      less += Math.max(0, 1 - times)
    }
    const says = more - Math.min(less, atFirst + perSelling * selling)
    // One order informs ln θ0 with a variance of 1, and a delay likewise (delay.ts).
    return ALIKE_ORDERS * says > USUAL_ORDERS * (log - Math.log(UNFITTED.globalRate))
  })
  return Math.exp(logRate)
}

/**
 * Orders at which a merchant has half of its full weight in the network's values: goods differ more
 * than rates.
 */
const HALF_ORDERS = 1
/** Cap on a merchant's distance from the mean, as a factor of e. */
const AWAY_MAX = 1
/** ln of the least and the largest possible amount in micros. */
const LOG_VALUES = { least: 0, most: Math.log(Number.MAX_SAFE_INTEGER) }

/**
 * The centre of the merchants' mean ln(value), with the default as one more merchant. A mean over
 * all orders would follow the merchant with the most reports: 200 fake orders of $5,000 raised the
 * order value of four merchants from $60 to $1,113.
 */
export function networkLogMean(
  merchants: readonly Pick<ValueCounts, 'orders' | 'logValue'>[],
): number {
  const shown = merchants.filter(({ orders }) => orders > 0)
  return bisect(LOG_VALUES, (mean) => {
    const away = shown.reduce((sum, { orders, logValue }) => {
      const far = Math.min(AWAY_MAX, Math.max(-AWAY_MAX, logValue / orders - mean))
      return sum + (orders / (orders + HALF_ORDERS)) * far
    }, 0)
    return away > mean - UNFITTED_VALUE.globalLogMean
  })
}

/** Bisection steps needed to reach double precision. */
const HALVINGS = 50

/** The point of a range up to which `isTooLow` is true, and above which it is false. */
function bisect(
  range: { readonly least: number; readonly most: number },
  isTooLow: (value: number) => boolean,
): number {
  let { least, most } = range
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (least + most) / 2
    if (isTooLow(middle)) least = middle
    else most = middle
  }
  return (least + most) / 2
}
