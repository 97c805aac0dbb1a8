/**
 * Fits how long orders come after their clicks, for the network and for each merchant.
 *
 * The curve is a mixture of exponentials with the fixed means WAITS_MS. A single exponential cannot
 * describe readers who buy within the hour and readers who compare for a week; it overvalued a new
 * such shop by a factor of two on the first day (docs/spec/prediction.md#delay).
 *
 * Among clicks an hour old, only delays under an hour are visible. A plain mean of delays is
 * therefore too short while a network is young. So the fit compares each delay only with the delays
 * that the age of its click allowed.
 */
import { DAY_MS } from '../platform/time/timestamp.ts'
import { type DelayCurve, WAITS_MS } from './evidence.ts'
import { type Delays, UNFITTED_MODEL } from './prediction-model.ts'

/** Orders of a merchant with similar click ages and similar delays. */
export interface Waits {
  readonly merchId: number
  readonly orders: number
  /** Sum of the times from click to order. */
  readonly waitMs: number
  /** Age of the clicks, the longest delay that can be visible. */
  readonly ageMs: number
}

/** Groups orders by the age of their click and by their delay, like `loadWaits` in SQL. */
export function groupWaits(waits: readonly Waits[]): Waits[] {
  const groups = new Map<string, { -readonly [K in keyof Waits]: Waits[K] }>()
  for (const { merchId, orders, waitMs, ageMs } of waits) {
    const byAge = Math.round(4 * Math.log(Math.max(1, ageMs)))
    const byWait = Math.round(2 * Math.log(waitMs / orders + 60_000))
    const group = groups.getOrInsert(`${merchId} ${byAge} ${byWait}`, {
      ...{ merchId, orders: 0, waitMs: 0, ageMs: 0 },
    })
    group.ageMs = (group.orders * group.ageMs + orders * ageMs) / (group.orders + orders)
    group.orders += orders
    group.waitMs += waitMs
  }
  return [...groups.values()]
}

/** Clicks of this many days are used. */
export const WAITS_DAYS = 28

/** Orders that the network's curve is worth against a merchant's own. */
const NETWORK_ORDERS = 20
/** Weight cap of one merchant in the network's curve, in orders: merchants differ by more. */
const OF_MERCHANT_MAX = 4
/**
 * A merchant whose delays are unlike the network's counts less: its weight falls with the mean log
 * likelihood that it loses under the network's curve.
 */
const UNLIKE = 0.5
const REWEIGHTINGS = 5
/** Weight of the default curve in the network's, in orders. */
const USUAL_ORDERS = 1
const STEPS_MAX = 60
/**
 * Over-relaxation: steps are this much longer, because plain ones are slow while most orders are
 * unseen.
 */
const STRIDE = 1.8
/**
 * Converged when no weight moves by more than this: delays determine weights to a percent at best.
 */
const CONVERGED = 1e-4

/** Fits the curves to the visible delays; the defaults where there are none. */
export function fitDelays(waits: readonly Waits[]): Delays {
  const byMerchant = Map.groupBy(waits, ({ merchId }) => merchId)
  const delayCurve = fitNetwork([...byMerchant.values()])
  const network = { curve: delayCurve, orders: NETWORK_ORDERS }
  const ofMerchants = [...byMerchant].map(([merchId, own]) => {
    return [merchId, fitCurve([{ waits: own, weight: 1 }], network)] as const
  })
  return {
    delayCurve,
    delayCurveByMerchant: Object.fromEntries(ofMerchants),
    delayOrders: ordersOf(waits),
  }
}

/**
 * One curve for all, with bounded weight per merchant. Otherwise a thousand late reports of one
 * merchant would make the whole network look slow, and clicks without orders would stay unripe for
 * long.
 */
function fitNetwork(merchants: readonly (readonly Waits[])[]): DelayCurve {
  const usual = { curve: UNFITTED_MODEL.delayCurve, orders: USUAL_ORDERS }
  const shown = merchants.map((waits) => {
    const own = fitCurve([{ waits, weight: 1 }], usual)
    return { waits, own, part: Math.min(1, OF_MERCHANT_MAX / ordersOf(waits)) }
  })
  let curve = usual.curve
  for (let time = 0; time < REWEIGHTINGS; time++) {
    const weighted = shown.map(({ waits, own, part }) => {
      const unlike = (logLikelihood(waits, own) - logLikelihood(waits, curve)) / ordersOf(waits)
      return { waits, weight: part * Math.min(1, UNLIKE / Math.max(0, unlike)) }
    })
    curve = fitCurve(weighted, usual, curve)
  }
  return curve
}

function logLikelihood(waits: readonly Waits[], curve: DelayCurve): number {
  return waits.reduce((sum, { orders, waitMs, ageMs }) => {
    const density = weighted(curve, densities(waitMs / orders))
    return sum + orders * Math.log(density / (1 - weighted(curve, laterThan(ageMs))))
  }, 0)
}

const densities = (waitMs: number): number[] =>
  WAITS_MS.map((meanMs) => Math.exp(-Math.min(600, waitMs / meanMs)) / meanMs)
const laterThan = (ageMs: number): number[] =>
  WAITS_MS.map((meanMs) => Math.exp(-Math.max(1, ageMs) / meanMs))

function ordersOf(parts: readonly { readonly orders: number }[]): number {
  return parts.reduce((sum, { orders }) => sum + orders, 0)
}

/**
 * The weights that maximise the likelihood of the delays, with `prior.orders` orders of the prior's
 * curve, by expectation–maximisation. Each visible order stands for the orders still on their way
 * at that click age. The likelihood has a single peak.
 */
function fitCurve(
  merchants: readonly { readonly waits: readonly Waits[]; readonly weight: number }[],
  prior: { readonly curve: DelayCurve; readonly orders: number },
  start = prior.curve,
): DelayCurve {
  const seen = merchants.flatMap(({ waits, weight }) =>
    waits.map(({ orders, waitMs, ageMs }) => ({
      orders: orders * weight,
      density: densities(waitMs / orders),
      later: laterThan(ageMs),
    })),
  )
  let curve = start
  for (let step = 0; step < STEPS_MAX; step++) {
    const counts = prior.curve.map((share) => share * prior.orders)
    for (const { orders, density, later } of seen) {
      const likelihood = weighted(curve, density)
      const come = 1 - weighted(curve, later)
      for (let part = 0; part < curve.length; part++) {
        const share = (density[part] ?? 0) / likelihood + (later[part] ?? 0) / come
        counts[part] = (counts[part] ?? 0) + orders * (curve[part] ?? 0) * share
      }
    }
    const total = counts.reduce((sum, count) => sum + count, 0)
    const far = curve.map((share, part) => share * ((counts[part] ?? 0) / total / share) ** STRIDE)
    const whole = far.reduce((sum, share) => sum + share, 0)
    const next = far.map((share) => share / whole)
    const moved = next.some((share, part) => Math.abs(share - (curve[part] ?? 0)) > CONVERGED)
    curve = next
    if (!moved) break
  }
  return curve
}

function weighted(curve: DelayCurve, values: readonly number[]): number {
  let sum = 0
  for (let part = 0; part < curve.length; part++) sum += (curve[part] ?? 0) * (values[part] ?? 0)
  return sum
}

/** The highest age at which a share of at least `share` of the orders is still to come. */
export function waitingAge(curve: DelayCurve, share: number): number {
  let [least, most] = [0, 400 * DAY_MS]
  for (let step = 0; step < 40; step++) {
    const middle = (least + most) / 2
    if (weighted(curve, laterThan(middle)) > share) least = middle
    else most = middle
  }
  return most
}
