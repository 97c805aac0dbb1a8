/**
 * What the prediction expects of merchants that have shown little: the order rate of the network
 * (θ0) and the worth of its orders, as the other merchants show them now. A nightly value would be
 * a day late in a young network. Rules: docs/spec/prediction.md.
 */
import { type Counts, UNFITTED, UNFITTED_VALUE, type ValueCounts } from './predict.ts'

/** Orders that θ0 is worth against a merchant's own here: merchants differ as is usual. */
const ALIKE_ORDERS = UNFITTED.k0 * UNFITTED.globalRate
/** How many times θ0 one merchant may say that it is. */
const TIMES_MAX = 2
/**
 * What all merchants may say against θ0 together, counted in merchants that sell nothing: one for
 * four that told of an order, and half a one at first. Who pays for clicks need not tell of orders
 * at all: were each believed to sell nothing, twenty beside ten that sell at 2 % had θ0 at .01 %.
 */
const LESS_MAX = { atFirst: 1 / 2, perTeller: 1 / 4 }
/** Orders that the usual rate is worth against the merchants': networks differ more than these. */
const USUAL_ORDERS = 1
/** ln θ0 is sought between these. */
const LOG_RATES = { least: Math.log(1e-9), most: 0 }

/**
 * The rate that the merchants' own, each drawn to it and at most TIMES_MAX of it, are on average.
 * Orders per click of all clicks together were those of whoever had the most: 5,000 that brought
 * nothing, which any browser can make, put the rate of three young merchants at a sixth of theirs.
 */
export function networkRate(merchants: readonly Counts[]): number {
  const { atFirst, perTeller } = LESS_MAX
  const tellers = merchants.reduce((sum, { orders }) => sum + Math.min(1, orders), 0)
  const logRate = bisect(LOG_RATES, (log) => {
    const rate = Math.exp(log)
    let [more, less] = [0, 0]
    for (const { clicks, orders } of merchants) {
      const times = (orders + ALIKE_ORDERS) / (clicks * rate + ALIKE_ORDERS)
      more += Math.max(0, Math.min(TIMES_MAX, times) - 1)
      less += Math.max(0, 1 - times)
    }
    const says = more - Math.min(less, atFirst + perTeller * tellers)
    // An order tells of ln θ0 with a variance of 1, as it does of a wait (delay.ts).
    return ALIKE_ORDERS * says > USUAL_ORDERS * (log - Math.log(UNFITTED.globalRate))
  })
  return Math.exp(logRate)
}

/** Orders of a merchant that say half as much of others as any number does: goods differ more. */
const HALF_ORDERS = 1
/** How far from the mean a merchant's own counts, as a factor of e. */
const AWAY_MAX = 1
/** ln of the least and the largest amount of micros that there is. */
const LOG_VALUES = { least: 0, most: Math.log(Number.MAX_SAFE_INTEGER) }

/**
 * The ln(value) around which the merchants' means lie, and what is usual as if it were one more. A
 * mean over all orders was that of whoever told the most: 200 of $5,000, made up by any browser,
 * had an order at each of four merchants that sell for $60 count as $1,113.
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

/** So often a range is halved: to a part in 10¹⁵ of it, as fine as numbers are. */
const HALVINGS = 50

/** The number of a range up to which `isTooLow` holds, and above which it does not. */
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
