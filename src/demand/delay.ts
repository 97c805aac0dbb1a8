/**
 * How long do orders come after their clicks? τ of economics 3, of the network and of merchants.
 *
 * Of clicks an hour old only waits under an hour can have been seen. A plain mean of waits is
 * therefore too short while a network is young, whatever its readers do. So each wait is judged
 * among those that the age of its click allowed: as an exponential cut off there.
 */
import { type Grid, likeliest } from './likeliest.ts'
import { type Delays, UNFITTED_MODEL } from './prediction-model.ts'
import { weightedMedian } from './weighted-median.ts'

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
const GRID: Grid = { least: 60_000, most: 60 * 86_400_000, steps: 570 }
/** Orders that what is usual is worth against the network's own: readers differ by more than it. */
const USUAL_ORDERS = 1
/** Orders that the network's τ is worth against a merchant's own. */
const NETWORK_ORDERS = 20
/** So many orders of one merchant count in the network's τ. */
const OF_MERCHANT_MAX = 20
/** Orders that the one fit of all waits is worth against a merchant's own there. */
const ALL_ORDERS = 2
/** Of the log likelihood, there: what a wait of a fiftieth of τ costs, or one of six. */
const AGAINST_MAX = 3

/** Fits τ to the waits that have been seen; what is usual in commerce where none has. */
export function fitDelays(waits: readonly Waits[]): Delays {
  const byMerchant = Map.groupBy(waits, ({ merchId }) => merchId)
  const delayMs = fitNetwork([...byMerchant.values()])
  const network = { delayMs, orders: NETWORK_ORDERS }
  const ofMerchants = [...byMerchant].map(([merchId, of]) => [merchId, fitDelay(of, network)])
  return { delayMs, delayMsByMerchant: Object.fromEntries(ofMerchants), delayOrders: sumOf(waits) }
}

/**
 * The middle one of the merchants, each counting for OF_MERCHANT_MAX orders at most. One fit of all
 * waits was that of whoever told the most and the longest: a thousand orders that a merchant told
 * of after 26 days had readers take two months everywhere, and clicks that brought none were long
 * taken for unripe. An order or two say too little by themselves: such merchants are drawn to the
 * one fit.
 */
function fitNetwork(merchants: readonly (readonly Waits[])[]): number {
  const usual = { delayMs: UNFITTED_MODEL.delayMs, orders: USUAL_ORDERS }
  const all = { delayMs: fitCommon(merchants, usual), orders: ALL_ORDERS }
  const fitted = merchants.map((of) => ({
    value: Math.log(fitDelay(of, all)),
    weight: Math.min(OF_MERCHANT_MAX, sumOf(of)),
  }))
  return Math.exp(weightedMedian(fitted) ?? Math.log(all.delayMs))
}

/**
 * The one fit of all merchants' waits, and of what is usual. None of them speaks against a τ by
 * more than AGAINST_MAX: twenty orders of 26 days, told by one merchant, would else outweigh forty
 * with an order each.
 */
function fitCommon(merchants: readonly (readonly Waits[])[], prior: Prior): number {
  const shown = merchants.map((waits) => {
    const best = likeliest(GRID, (delayMs) => logLikelihoodOf(waits, delayMs))
    return { waits, least: logLikelihoodOf(waits, best) - AGAINST_MAX }
  })
  return likeliest(GRID, (delayMs) =>
    shown.reduce(
      (sum, { waits, least }) => sum + Math.max(least, logLikelihoodOf(waits, delayMs)),
      Math.max(-AGAINST_MAX, logPrior(prior, delayMs)),
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
