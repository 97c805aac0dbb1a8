/**
 * The nightly choice among HALF_LIVES: how fast old evidence fades.
 *
 * Every half-life predicts each merchant's orders of a day from the days before it. The half-life
 * under which the orders of the last weeks were most likely is used
 * (docs/spec/prediction.md#half-life).
 */
import { DAY_MS } from '../platform/time/timestamp.ts'
import { HALF_LIVES, type HalfLife, shareWaiting } from './evidence.ts'
import { logGammaRise } from './log-gamma.ts'
import { delayOf, type PredictionModel } from './prediction-model.ts'

/** A merchant's valid clicks of a UTC day, and their orders so far. */
export interface MerchantDay {
  readonly merchId: number
  readonly day: number // since the epoch
  readonly clicks: number
  readonly orders: number
}

/** Days of data; those of the first half only train. */
export const HALF_LIFE_DAYS = 120
const JUDGED_DAYS = 60
/** Cap on one merchant's log likelihood ratio against a half-life. */
const AGAINST_MAX = 4
/** Minimum advantage over yesterday's choice: two equal half-lives would alternate. */
const CHANGE_MIN = 2

/** The half-life that predicts best; yesterday's where none is clearly better. */
export function fitHalfLife(days: readonly MerchantDay[], model: PredictionModel, nowMs: number) {
  const totals = new Map<HalfLife, number>(HALF_LIVES.map((halfLife) => [halfLife, 0]))
  for (const [merchId, own] of Map.groupBy(days, (of) => of.merchId)) {
    const curve = delayOf(model, merchId)
    const history = own
      .map(({ day, clicks, orders }) => {
        const ageMs = Math.max(0, nowMs - (day + 0.5) * DAY_MS)
        const ripe = clicks * (1 - shareWaiting(curve, ageMs))
        // A click brings one order at most (evidence.ts, pairAt).
        return {
          day,
          clicks: Math.max(ripe, Math.min(orders, clicks)),
          orders: Math.min(orders, clicks),
        }
      })
      .sort((one, other) => one.day - other.day)
    const likelihoods = HALF_LIVES.map((halfLife) =>
      logLikelihood(history, { halfLife, model, nowMs }),
    )
    const least = Math.max(...likelihoods) - AGAINST_MAX
    for (const [index, halfLife] of HALF_LIVES.entries()) {
      totals.set(
        halfLife,
        (totals.get(halfLife) ?? 0) + Math.max(least, likelihoods[index] ?? least),
      )
    }
  }
  const of = (halfLife: HalfLife): number =>
    (totals.get(halfLife) ?? 0) + (halfLife === model.halfLife ? CHANGE_MIN : 0)
  return HALF_LIVES.reduce((best, halfLife) => (of(halfLife) > of(best) ? halfLife : best))
}

interface Day {
  readonly day: number
  readonly clicks: number // ripe ones
  readonly orders: number
}

/**
 * Likelihood of each day's orders, given those before: a Poisson count mixed over the rate's
 * posterior.
 */
function logLikelihood(
  history: readonly Day[],
  { halfLife, model, nowMs }: { halfLife: HalfLife; model: PredictionModel; nowMs: number },
): number {
  const { globalRate, k0 } = model.rates
  const judgedFrom = nowMs / DAY_MS - JUDGED_DAYS
  let [clicks, orders, asOf, sum] = [0, 0, history[0]?.day ?? 0, 0]
  for (const of of history) {
    const decay = 2 ** (-(of.day - asOf) / halfLife)
    clicks *= decay
    orders *= decay
    asOf = of.day
    if (of.day >= judgedFrom && of.clicks > 0) {
      const alpha = orders + k0 * globalRate
      const known = clicks + k0
      sum +=
        logGammaRise(alpha, of.orders) +
        alpha * Math.log(known / (known + of.clicks)) +
        of.orders * Math.log(of.clicks / (known + of.clicks))
    }
    clicks += of.clicks
    orders += of.orders
  }
  return sum
}
