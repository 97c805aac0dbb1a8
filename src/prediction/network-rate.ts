/**
 * θ0, the order rate of the network as its merchants show it now (economics 3): what is expected of
 * those that have shown little themselves. Nightly would be a day late in a young network.
 */
import { type Counts, UNFITTED } from './predict.ts'
import { turningPoint } from './turning-point.ts'

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
  const logRate = turningPoint(LOG_RATES, (log) => {
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
