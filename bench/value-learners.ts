/**
 * Learners of what a click is worth: Souk's own, made of the functions that the fold, the nightly
 * job and the nodes call, and two simple baselines. bench/value-worlds.ts compares them.
 */
import type { Waits } from '../src/demand/delay.ts'
import { fitDelays, WAITS_DAYS } from '../src/demand/delay.ts'
import { addToPairs, type PairEvidence } from '../src/demand/evidence-store.ts'
import { fitModel } from '../src/demand/fit.ts'
import { OutlookBook } from '../src/demand/outlook.ts'
import {
  gammaQuantile,
  type Prediction,
  predictCpc,
  predictPerOrder,
} from '../src/demand/predict.ts'
import { type PredictionModel, UNFITTED_MODEL } from '../src/demand/prediction-model.ts'
import { fitReturnShares, RETURN_DAYS } from '../src/demand/return-share.ts'
import { DAY_MS } from '../src/platform/timestamp.ts'
import type { Happening, Order } from './simulated-network.ts'

/** What a learner says of a click of a pair: its value, and orders per click, each with 80 %. */
export interface Forecast {
  readonly value: Prediction
  readonly rate: Prediction
}

export interface Learner {
  readonly name: string
  readonly learn: (happening: Happening) => void
  /** A slot begins: everything that happened before is known. */
  readonly refresh: (nowMs: number) => void
  readonly forecast: (pubId: number, merchId: number, ratePpm: number) => Forecast
}

/** As nodes learn: evidence from the fold, a fit each night, or at each slot of a young network. */
export function ourLearner(): Learner {
  const pairs = new Map<string, PairEvidence>()
  const book = new OutlookBook()
  const orders = new Set<Order>()
  let model: PredictionModel = UNFITTED_MODEL
  let fittedDay = -1
  let yesterday = model
  return {
    name: 'ours',
    learn: (happening) => {
      addToPairs(pairs, happening.samples, model)
      if (happening.kind === 'order') orders.add(happening.order)
    },
    refresh: (nowMs) => {
      const day = Math.floor(nowMs / DAY_MS)
      if (day !== fittedDay || model.delayOrders < 1_000) {
        if (day !== fittedDay) yesterday = model
        fittedDay = day
        const delays = fitDelays(waitsOf(orders, nowMs))
        const fitted = fitModel([...pairs.values()], {
          yesterday: { ...yesterday, ...delays },
          nowMs,
        })
        model = { ...fitted, ...fitReturnShares(soldBy(orders, nowMs)) }
      }
      book.take(model, [...pairs.values()], nowMs)
    },
    forecast: (pubId, merchId, ratePpm) => {
      const outlook = book.of(pubId, merchId)
      return {
        value: predictCpc({ model: 'cpa', ratePpm }, { ...outlook, share: 1, fundedShare: 1 }),
        rate: predictPerOrder(outlook.rate, { perOrderMicros: 1, logVariance: 0 }),
      }
    },
  }
}

/** As `loadWaits` groups them: by merchant and about equally old clicks, each order of a click. */
function waitsOf(orders: ReadonlySet<Order>, nowMs: number): Waits[] {
  const groups = new Map<
    string,
    { merchId: number; orders: number; waitMs: number; ageMs: number }
  >()
  for (const order of orders) {
    const ageMs = nowMs - order.clickAtMs
    if (ageMs > WAITS_DAYS * DAY_MS || order.rejectedAtMs < nowMs) continue
    const key = `${order.merchId} ${Math.round(4 * Math.log(ageMs))}`
    const group = groups.getOrInsert(key, {
      merchId: order.merchId,
      orders: 0,
      waitMs: 0,
      ageMs: 0,
    })
    group.orders += 1
    group.waitMs += order.atMs - order.clickAtMs
    group.ageMs += ageMs
  }
  return [...groups.values()].map((of) => ({ ...of, ageMs: of.ageMs / of.orders }))
}

function soldBy(orders: ReadonlySet<Order>, nowMs: number) {
  const oldest = nowMs - RETURN_DAYS.oldest * DAY_MS
  const youngest = nowMs - RETURN_DAYS.youngest * DAY_MS
  const sold = new Map<number, { merch_id: number; sold: number; kept: number }>()
  for (const { merchId, atMs, micros, rejectedAtMs, returnedAtMs } of orders) {
    if (atMs < oldest || atMs > youngest || rejectedAtMs < nowMs) continue
    const of = sold.getOrInsert(merchId, { merch_id: merchId, sold: 0, kept: 0 })
    of.sold += micros
    of.kept += returnedAtMs < nowMs ? 0 : micros
  }
  return [...sold.values()]
}

interface Totals {
  clicks: number
  orders: number
  micros: number
}

/** Clicks and standing orders of pairs and merchants, all ages alike. */
class Counts {
  readonly pairs = new Map<string, Totals & { merchId: number }>()
  readonly merchants = new Map<number, Totals>()
  readonly network: Totals = { clicks: 0, orders: 0, micros: 0 }

  add(happening: Happening): void {
    const { merchId, pubId } = happening.kind === 'click' ? happening : happening.order
    const none = { clicks: 0, orders: 0, micros: 0 }
    for (const totals of [
      this.network,
      this.merchants.getOrInsert(merchId, { ...none }),
      this.pairs.getOrInsert(`${pubId} ${merchId}`, { ...none, merchId }),
    ]) {
      if (happening.kind === 'click') {
        totals.clicks += 1
        continue
      }
      const sign = happening.kind === 'order' ? 1 : -1
      totals.orders += sign
      totals.micros += sign * happening.order.micros
    }
  }
}

const NONE: Totals = { clicks: 0, orders: 0, micros: 0 }
const certain = (meanMicros: number): Prediction => ({
  ...{ meanMicros, lowMicros: meanMicros, highMicros: meanMicros },
})

/** Commission of the standing orders over the clicks of a merchant; else of the network. */
export function merchantMean(): Learner {
  const counts = new Counts()
  return {
    name: 'merchant mean',
    learn: (happening) => counts.add(happening),
    refresh: () => undefined,
    forecast: (_, merchId, ratePpm) => {
      const own = counts.merchants.get(merchId) ?? NONE
      const { clicks, orders, micros } = own.clicks === 0 ? counts.network : own
      const [value, rate] =
        clicks === 0 ? [0, 0] : [(micros * ratePpm) / 1e6 / clicks, orders / clicks]
      return { value: certain(value), rate: certain(rate) }
    },
  }
}

/** Orders that the network's mean value is worth against a merchant's own. */
const VALUE_ORDERS = 5

/**
 * Two-level gamma-Poisson: a merchant's rate is drawn to the network's, a pair's to its merchant's,
 * with weights by the method of moments; a shrunken arithmetic mean of order values. All counts
 * weigh the same, and orders to come, rejections to come and returns are unknown to it.
 */
export function twoLevel(): Learner {
  const counts = new Counts()
  let weights = { rate: 0.02, k0: 150, k1: 570 }
  return {
    name: 'two-level',
    learn: (happening) => counts.add(happening),
    refresh: () => {
      const { clicks, orders } = counts.network
      if (orders < 20) return
      const rate = orders / clicks
      const merchants = [...counts.merchants.values()].map((of) => ({ ...of, rate }))
      const pairs = [...counts.pairs.values()].map((of) => {
        const merchant = counts.merchants.get(of.merchId) ?? NONE
        return { ...of, rate: merchant.orders / Math.max(1, merchant.clicks) }
      })
      weights = { rate, k0: concentration(merchants, rate), k1: concentration(pairs, rate) }
    },
    forecast: (pubId, merchId, ratePpm) => {
      const merchant = counts.merchants.get(merchId) ?? NONE
      const pair = counts.pairs.get(`${pubId} ${merchId}`) ?? NONE
      const { rate, k0, k1 } = weights
      const merchantRate = (merchant.orders + k0 * rate) / (merchant.clicks + k0)
      const [alpha, clicks] = [pair.orders + k1 * merchantRate, pair.clicks + k1]
      const { network } = counts
      const usual = network.orders === 0 ? 60e6 : network.micros / network.orders
      const perOrder = (merchant.micros + VALUE_ORDERS * usual) / (merchant.orders + VALUE_ORDERS)
      const paid = (perOrder * ratePpm) / 1e6
      const at = (z: number) => gammaQuantile(alpha, z) / clicks
      const found = { mean: alpha / clicks, low: at(-1.2816), high: at(1.2816) }
      const times = (factor: number): Prediction => ({
        meanMicros: found.mean * factor,
        lowMicros: found.low * factor,
        highMicros: found.high * factor,
      })
      return { rate: times(1), value: times(paid) }
    },
  }
}

/** Clicks that the wider rate is worth: rate over the variance between groups, by moments. */
function concentration(groups: readonly (Totals & { rate: number })[], rate: number): number {
  const shown = groups.filter(({ clicks }) => clicks > 0)
  const clicks = shown.reduce((sum, of) => sum + of.clicks, 0)
  const squares = shown.reduce((sum, of) => sum + of.clicks ** 2, 0)
  const scatter = shown.reduce(
    (sum, of) => sum + of.clicks * (of.orders / of.clicks - of.rate) ** 2,
    0,
  )
  const between = (scatter - (shown.length - 1) * rate) / (clicks - squares / clicks)
  return between <= 0 ? 1e5 : Math.min(1e5, Math.max(5, rate / between))
}
