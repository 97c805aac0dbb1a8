/**
 * Learners of what a click is worth: Souk's own, made of the functions that the fold, the nightly
 * job and the nodes call, and two simple baselines. bench/value-worlds.ts compares them.
 */

import { DAY_MS } from '../src/platform/time/timestamp.ts'
import {
  APPROVAL_DAYS,
  APPROVAL_STEP_DAYS,
  APPROVAL_STEPS,
  fitApprovals,
  type OrderAges,
} from '../src/prediction/approval.ts'
import { ClickEstimates } from '../src/prediction/click-estimates.ts'
import { fitDelays, groupWaits, WAITS_DAYS, type Waits } from '../src/prediction/delay.ts'
import { type DelayCurve, HALF_LIVES, type HalfLife, WAITS_MS } from '../src/prediction/evidence.ts'
import { addToPairs, type PairEvidence } from '../src/prediction/evidence-store.ts'
import { fitModel } from '../src/prediction/fit.ts'
import { fitHalfLife, HALF_LIFE_DAYS } from '../src/prediction/half-life.ts'
import {
  gammaQuantile,
  type Prediction,
  predictCpc,
  predictPerOrder,
  shown,
} from '../src/prediction/predict.ts'
import { type PredictionModel, UNFITTED_MODEL } from '../src/prediction/prediction-model.ts'
import { fitReturnShares, RETURN_DAYS } from '../src/prediction/return-share.ts'
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
  readonly model?: () => PredictionModel
}

/** Until so many orders the fit runs at each slot and not at night only (the service: 1,000). */
const YOUNG_ORDERS = 200

/** What a variant of our learner does without, to show what each part is for. */
export interface Variant {
  readonly name: string
  readonly model?: (fitted: PredictionModel) => PredictionModel
  /** Without its sum of values a merchant's orders scatter as the network's do. */
  readonly isSpreadOfNetwork?: boolean
  /** Intervals as if the merchant's own rate were known. */
  readonly isMerchantRateKnown?: boolean
}

export const VARIANTS: readonly Variant[] = [
  {
    name: 'no approvals',
    model: (fitted) => ({ ...fitted, approvedShare: 1, approvedShareByMerchant: {} }),
  },
  { name: 'one delay', model: (fitted) => ({ ...fitted, delayCurveByMerchant: {} }) },
  {
    name: 'exponential',
    model: (of) => ({ ...of, delayCurve: oneExponential(of), delayCurveByMerchant: {} }),
  },
  {
    name: 'one spread',
    model: ({ values, ...of }) => ({
      ...of,
      values: { ...values, logRatio: values.variance / 2 },
    }),
    isSpreadOfNetwork: true,
  },
  { name: 'narrow', isMerchantRateKnown: true },
  { name: 'half-life 10', model: (fitted) => ({ ...fitted, halfLife: 10 }) },
  { name: 'K1 20,000', model: (of) => ({ ...of, rates: { ...of.rates, k1: 20_000 } }) },
]

/** The network's curve as the one of our exponentials whose mean is closest to its own. */
function oneExponential({ delayCurve }: PredictionModel): DelayCurve {
  const meanMs = delayCurve.reduce((sum, share, part) => sum + share * (WAITS_MS[part] ?? 0), 0)
  const distances = WAITS_MS.map((waitMs) => Math.abs(Math.log(waitMs / meanMs)))
  const closest = distances.indexOf(Math.min(...distances))
  return delayCurve.map((_, part) => Number(part === closest))
}

/** As nodes learn: evidence from the fold, a fit each night, or at each slot of a young network. */
export function ourLearner(variant: Variant = { name: 'ours' }): Learner {
  const { name, model: change, isSpreadOfNetwork, isMerchantRateKnown } = variant
  const pairs = new Map(HALF_LIVES.map((of) => [of, new Map<string, PairEvidence>()]))
  const book = new ClickEstimates()
  const days = new Map<string, { merchId: number; day: number; clicks: number; orders: number }>()
  const dayOf = (merchId: number, atMs: number) => {
    const day = Math.floor(atMs / DAY_MS)
    return days.getOrInsert(`${merchId} ${day}`, { merchId, day, clicks: 0, orders: 0 })
  }
  const orders = new Set<Order>()
  let model: PredictionModel = UNFITTED_MODEL
  let yesterday = model
  let fittedDay = -1
  const evidenceOf = (halfLife: HalfLife) => [...(pairs.get(halfLife)?.values() ?? [])]
  const fit = (nowMs: number): PredictionModel => {
    const from = nowMs / DAY_MS - HALF_LIFE_DAYS
    const young = [...days.values()].filter(({ day }) => day >= from)
    const delays = { ...yesterday, ...fitDelays(waitsOf(orders, nowMs)) }
    const asOf = { ...delays, halfLife: fitHalfLife(young, delays, nowMs) }
    const fitted = fitModel(evidenceOf(asOf.halfLife), { yesterday: asOf, nowMs })
    const returns = fitReturnShares(soldBy(orders, nowMs))
    const approvals = fitApprovals(agesOf(orders, nowMs, asOf.halfLife))
    return { ...fitted, ...returns, ...approvals }
  }
  return {
    name,
    learn: (happening) => {
      for (const [halfLife, held] of pairs) addToPairs(held, happening.samples, halfLife)
      if (happening.kind === 'click') dayOf(happening.merchId, happening.atMs).clicks += 1
      else {
        const { order } = happening
        dayOf(order.merchId, order.clickAtMs).orders += happening.kind === 'order' ? 1 : -1
        orders.add(order)
      }
    },
    refresh: (nowMs) => {
      const day = Math.floor(nowMs / DAY_MS)
      if (day !== fittedDay || model.delayOrders < YOUNG_ORDERS) {
        if (day !== fittedDay) yesterday = model
        fittedDay = day
        model = change?.(fit(nowMs)) ?? fit(nowMs)
      }
      const evidence = evidenceOf(model.halfLife)
      const ofNetwork = (of: PairEvidence) => ({ ...of, evidence: { ...of.evidence, value: 0 } })
      book.take(model, isSpreadOfNetwork ? evidence.map(ofNetwork) : evidence, nowMs)
    },
    forecast: (pubId, merchId, ratePpm) => {
      const known = book.of(pubId, merchId)
      const rate = { ...known.rate, ...(isMerchantRateKnown ? { merchantError: 0 } : {}) }
      const estimate = { ...known, rate }
      return {
        value: predictCpc({ model: 'cpa', ratePpm }, { ...estimate, share: 1, fundedShare: 1 }),
        rate: predictPerOrder(shown(estimate.rate), { perOrderMicros: 1, logVariance: 0 }),
      }
    },
    model: () => model,
  }
}

/** As `loadWaits` finds them. */
function waitsOf(orders: ReadonlySet<Order>, nowMs: number): Waits[] {
  const waits = [...orders].flatMap(({ merchId, clickAtMs, atMs, rejectedAtMs }) => {
    const ageMs = nowMs - clickAtMs
    if (ageMs > WAITS_DAYS * DAY_MS || rejectedAtMs < nowMs) return []
    return [{ merchId, orders: 1, waitMs: atMs - clickAtMs, ageMs }]
  })
  return groupWaits(waits)
}

/** As `findOrderAges` counts them. */
function agesOf(orders: ReadonlySet<Order>, nowMs: number, halfLife: HalfLife): OrderAges[] {
  const ages = new Map<string, Mutable<OrderAges>>()
  const of = (merch_id: number, step: number) => {
    const none = { merch_id, step, exposed: 0, rejected: 0, active: 0 }
    return ages.getOrInsert(`${merch_id} ${step}`, none)
  }
  const stepMs = APPROVAL_STEP_DAYS * DAY_MS
  const fromMs = nowMs - APPROVAL_DAYS * DAY_MS
  for (const { merchId, clickAtMs, atMs, rejectedAtMs } of orders) {
    if (atMs > nowMs) continue
    const now = Math.min(APPROVAL_STEPS, Math.floor((nowMs - atMs) / stepMs))
    const decay = 2 ** (-(nowMs - clickAtMs) / (halfLife * DAY_MS))
    if (rejectedAtMs > nowMs) of(merchId, now).active += decay
    for (let step = 0; step <= Math.min(now, APPROVAL_STEPS - 1); step++) {
      const startMs = atMs + step * stepMs
      if (startMs < fromMs || rejectedAtMs < startMs) continue
      const isRejected = rejectedAtMs <= nowMs && rejectedAtMs < startMs + stepMs
      const isOver = startMs + stepMs <= nowMs || isRejected
      of(merchId, step).exposed += isOver ? 1 : 0.5
      of(merchId, step).rejected += isRejected ? 1 : 0
    }
  }
  return [...ages.values()]
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

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

/** Clicks and active orders of pairs and merchants, all ages alike. */
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

/** Commission of the active orders over the clicks of a merchant; else of the network. */
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
