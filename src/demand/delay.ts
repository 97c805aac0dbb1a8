/**
 * How long do orders come after their clicks? τ of economics 3, of the network and of merchants.
 *
 * Of clicks an hour old only waits under an hour can have been seen. A plain mean of waits is
 * therefore too short while a network is young, whatever its readers do. So each wait is judged
 * among those that the age of its click allowed: as an exponential cut off there.
 */
import { DAY_MS } from '../platform/timestamp.ts'
import { type Grid, likeliest } from './likeliest.ts'
import { type Delays, UNFITTED_MODEL } from './prediction-model.ts'

/** Orders of a merchant whose clicks are about equally old. */
export interface Waits {
  readonly merchId: number
  readonly orders: number
  /** Sum of the times from click to order. */
  readonly waitMs: number
  /** Age of the clicks: no order can have been seen to wait longer. */
  readonly ageMs: number
}

/** Clicks of these days are looked at: twice the half-life of all other evidence. */
export const WAITS_DAYS = 28

/** From a minute, under which nothing depends on it, to two months; neighbours 2 % apart. */
const GRID: Grid = { least: 60_000, most: 60 * DAY_MS, steps: 570 }
/** Orders that the network's τ is worth against a merchant's own. */
const NETWORK_ORDERS = 20
/** What so many orders tell counts of one merchant in the network's τ: merchants differ by more. */
const OF_MERCHANT_MAX = 4
/** Of the log likelihood, there: what a merchant says at most against a τ. */
const AGAINST_MAX = 4
/** What is usual counts there as half an order, and says less than one merchant may. */
const USUAL = { delayMs: UNFITTED_MODEL.delayMs, orders: 1 / 2 }
const USUAL_AGAINST_MAX = 3

/** Fits τ to the waits that have been seen; what is usual in commerce where none has. */
export function fitDelays(waits: readonly Waits[]): Delays {
  const byMerchant = Map.groupBy(waits, ({ merchId }) => merchId)
  const delayMs = fitNetwork([...byMerchant.values()])
  const network = { delayMs, orders: NETWORK_ORDERS }
  const ofMerchants = [...byMerchant].map(([merchId, of]) => [merchId, fitDelay(of, network)])
  return { delayMs, delayMsByMerchant: Object.fromEntries(ofMerchants), delayOrders: sumOf(waits) }
}

/**
 * One fit of all waits, in which no merchant says much. It was else that of whoever told the most
 * and the longest: a thousand orders that a merchant told of after 26 days had readers take two
 * months everywhere, and clicks that brought none were long taken for unripe.
 */
function fitNetwork(merchants: readonly (readonly Waits[])[]): number {
  const shown = merchants.map((waits) => {
    const own = likeliest(GRID, (delayMs) => logLikelihoodOf(waits, delayMs))
    const part = Math.min(1, OF_MERCHANT_MAX / toldBy(waits, own))
    const logLikelihood = (delayMs: number) => part * logLikelihoodOf(waits, delayMs)
    return { logLikelihood, least: logLikelihood(own) - AGAINST_MAX }
  })
  return likeliest(GRID, (delayMs) =>
    shown.reduce(
      (sum, { logLikelihood, least }) => sum + Math.max(least, logLikelihood(delayMs)),
      Math.max(-USUAL_AGAINST_MAX, logPrior(USUAL, delayMs)),
    ),
  )
}

function sumOf(parts: readonly { readonly orders: number }[]): number {
  return parts.reduce((sum, { orders }) => sum + orders, 0)
}

interface Prior {
  readonly delayMs: number
  readonly orders: number
}

function fitDelay(waits: readonly Waits[], prior: Prior): number {
  return likeliest(GRID, (delayMs) => logPrior(prior, delayMs) + logLikelihoodOf(waits, delayMs))
}

/** An order tells of ln τ with a variance of 1: so many of them are a normal around it. */
function logPrior(prior: Prior, delayMs: number): number {
  return (-prior.orders / 2) * Math.log(delayMs / prior.delayMs) ** 2
}

function logLikelihoodOf(waits: readonly Waits[], delayMs: number): number {
  return waits.reduce(
    (sum, { orders, waitMs, ageMs }) =>
      sum - waitMs / delayMs - orders * Math.log(-delayMs * Math.expm1(-ageMs / delayMs)),
    0,
  )
}

/** What waits tell of ln τ, in orders of clicks so old that every wait is seen. */
function toldBy(waits: readonly Waits[], delayMs: number): number {
  return waits.reduce((sum, { orders, ageMs }) => {
    const age = ageMs / delayMs
    const cut = age / Math.expm1(age)
    return sum + orders * (1 - cut * (cut + age))
  }, 0)
}
