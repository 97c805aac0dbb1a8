/**
 * How long do orders come after their clicks? The delay curve of the network and of its merchants.
 *
 * The curve is a mixture of exponentials with the fixed means WAITS_MS: one exponential cannot hold
 * readers who buy within the hour and readers who compare for a week, and valued a newcomer of such
 * a shop at twice its worth on the first day (docs/spec/prediction.md#delay).
 *
 * Among clicks an hour old only waits under an hour can have been seen. A plain mean of waits is
 * therefore too short while a network is young, whatever its readers do. So each wait is judged
 * among those that the age of its click allowed.
 */
import { DAY_MS } from '../platform/time/timestamp.ts'
import { type DelayCurve, WAITS_MS } from './evidence.ts'
import { type Delays, UNFITTED_MODEL } from './prediction-model.ts'

/** Orders of a merchant whose clicks are about equally old, and which waited about equally long. */
export interface Waits {
  readonly merchId: number
  readonly orders: number
  /** Sum of the times from click to order. */
  readonly waitMs: number
  /** Age of the clicks: no order can have been seen to wait longer. */
  readonly ageMs: number
}

/** Groups orders by the age of their click and by their wait, as `loadWaits` does in SQL. */
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

/** Clicks of these days are looked at. */
export const WAITS_DAYS = 28

/** Orders that the network's curve is worth against a merchant's own. */
const NETWORK_ORDERS = 20
/** What one merchant counts for in the network's curve, in orders: merchants differ by more. */
const OF_MERCHANT_MAX = 4
/**
 * A merchant whose orders are so unlike the network's counts for less: by this over how much less
 * likely they are under its curve than under their own, on average (as a logarithm).
 */
const UNLIKE = 0.5
const REWEIGHTINGS = 5
/** What the usual curve counts for there, in orders. */
const USUAL_ORDERS = 1
const STEPS_MAX = 60
/** Steps go so much further than plain ones, which are slow where most orders are unseen. */
const STRIDE = 1.8
/** A curve whose weights move by less than this is found: waits tell them to a percent at best. */
const SETTLED = 1e-4

/** Fits the curves to the waits that have been seen; what is usual in commerce where none has. */
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
 * One curve for all, in which no merchant says much: a thousand orders that one reported after 26
 * days had readers take two months everywhere, and clicks that brought none were long taken for
 * unripe.
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
 * The weights that make the waits most likely beside `prior.orders` orders of the prior's curve, by
 * expectation and maximisation. For each order that was seen, as many are assumed to be on their
 * way as the curve says of clicks of that age; the likelihood has a single peak.
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
    const moved = next.some((share, part) => Math.abs(share - (curve[part] ?? 0)) > SETTLED)
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

/** The oldest clicks of which a share of at least `share` still waits, as an age. */
export function waitingAge(curve: DelayCurve, share: number): number {
  let [least, most] = [0, 400 * DAY_MS]
  for (let step = 0; step < 40; step++) {
    const middle = (least + most) / 2
    if (weighted(curve, laterThan(middle)) > share) least = middle
    else most = middle
  }
  return most
}
