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
 * Orders that a merchant's clicks can have missed at θ0: one, and some for each that it told of.
 * One that pays for clicks need not tell of orders at all: were each of these believed to sell
 * nothing, twenty beside ten that sell at 2 % would put θ0 at .01 %.
 */
const MISSED_MAX = { atFirst: 1, perOrder: 10 }
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
  const timesMore = ({ clicks, orders }: Counts, rate: number): number => {
    const due = Math.min(clicks * rate, MISSED_MAX.atFirst + MISSED_MAX.perOrder * orders)
    return Math.min(TIMES_MAX, (orders + ALIKE_ORDERS) / (due + ALIKE_ORDERS)) - 1
  }
  const logRate = turningPoint(LOG_RATES, (log) => {
    const more = merchants.reduce((sum, of) => sum + timesMore(of, Math.exp(log)), 0)
    // An order tells of ln θ0 with a variance of 1, as it does of a wait (delay.ts).
    return ALIKE_ORDERS * more > USUAL_ORDERS * (log - Math.log(UNFITTED.globalRate))
  })
  return Math.exp(logRate)
}
