/**
 * What a click of a publisher's reader at a merchant is worth: the one model behind the auction's
 * CPA and EPP values and behind `best_effort_cpc` (economics 3).
 *
 * A pair with few clicks says little about itself, so its rate is drawn to the merchant's rate
 * elsewhere, and that to the network's, each by as much as the pairs of the network differ:
 *   θ_m = (y_m − y_mp + K0 θ0) / (n_m − n_mp + K0),  θ = (y_mp + K1 θ_m) / (n_mp + K1).
 * K0 and K1 are fitted nightly (fit.ts). Pure: counts in, figures out.
 */
import { PPM } from '../platform/money.ts'

/** Ripe clicks of a pair, or of a whole merchant, and their orders, which are never more. */
export interface Counts {
  readonly clicks: number
  readonly orders: number
}

/** What the nightly fit found out about the network as a whole. */
export interface RateModel {
  readonly globalRate: number // θ0, orders per click
  readonly k0: number // clicks that the network's rate is worth against a merchant's own
  readonly k1: number // clicks that the merchant's rate is worth against a pair's own
}

/** Posterior of a pair's rate: a gamma of shape `alpha` over `nEff` clicks. */
export interface RateEstimate {
  readonly merchantRate: number // without this publisher
  readonly alpha: number // posterior orders
  readonly nEff: number // posterior clicks
  readonly rate: number // alpha / nEff, orders per click
}

/** Before anything was fitted: a rate and weights usual in commerce, soon outvoted by counts. */
export const UNFITTED: RateModel = { globalRate: 0.02, k0: 150, k1: 570 }

/**
 * The model seen at another base rate. What carries over is by which factor merchants and pairs
 * differ, `1/√(Kθ)`, and not how many clicks the wider rate is worth: 150 clicks say a lot where
 * one in fifty brings an order, and next to nothing where one in a thousand does.
 */
export function atRate({ globalRate, k0, k1 }: RateModel, rate: number): RateModel {
  const factor = globalRate / rate
  return { globalRate: rate, k0: k0 * factor, k1: k1 * factor }
}

/** Below half an order the approximation of the gamma quantile breaks down (economics 1.4). */
const ALPHA_MIN = 0.5

/** Estimates a pair's rate; `merchant` counts all publishers, this one included. */
export function estimateRate(model: RateModel, merchant: Counts, pair: Counts): RateEstimate {
  const elsewhereOrders = Math.max(0, merchant.orders - pair.orders)
  // Counted by itself the pair may have left fewer than the orders of the others.
  const elsewhereClicks = Math.max(elsewhereOrders, merchant.clicks - pair.clicks)
  const merchantRate =
    (elsewhereOrders + model.k0 * model.globalRate) / (elsewhereClicks + model.k0)
  const alpha = pair.orders + model.k1 * merchantRate
  const nEff = pair.clicks + model.k1
  return { merchantRate, alpha, nEff, rate: alpha / nEff }
}

/** The estimate with the shape that the auction's draw can use: same rate, a floor under alpha. */
export function drawable(estimate: RateEstimate): RateEstimate {
  const { alpha, rate } = estimate
  if (alpha >= ALPHA_MIN || rate === 0) return estimate
  return { ...estimate, alpha: ALPHA_MIN, nEff: ALPHA_MIN / rate }
}

/** Orders of a pair or merchant: how many, and the sum of ln(value). */
export interface ValueCounts {
  readonly orders: number
  readonly logValue: number
}

/** How the logarithms of order values spread: within a pair, and of means between groups. */
export interface ValueModel {
  readonly globalLogMean: number // of ln(value in micros)
  readonly variance: number // s², within a pair
  readonly k0: number // orders that the network's mean is worth: variance / between merchants
  readonly k1: number // orders that the merchant's mean is worth: variance / between publishers
}

export interface ValueEstimate {
  readonly meanMicros: number // of an order: exp(μ + s²/2)
  readonly logVariance: number // of the estimate of ln(mean), for the interval
}

/** Before anything was fitted: $60 an order, spread by a factor of about two. */
export const UNFITTED_VALUE: ValueModel = {
  globalLogMean: Math.log(60e6) - 0.25,
  variance: 0.5,
  k0: 5,
  k1: 20,
}

/** Estimates the order value of a pair, drawn to the merchant's and the network's as rates are. */
export function estimateValue(
  model: ValueModel,
  merchant: ValueCounts,
  pair: ValueCounts,
): ValueEstimate {
  const elsewhere = Math.max(0, merchant.orders - pair.orders)
  const merchantMean =
    (merchant.logValue - pair.logValue + model.k0 * model.globalLogMean) / (elsewhere + model.k0)
  const mean = (pair.logValue + model.k1 * merchantMean) / (pair.orders + model.k1)
  return {
    meanMicros: Math.exp(mean + model.variance / 2),
    logVariance: model.variance / (pair.orders + model.k1),
  }
}

/** A predicted amount a click with its 80 % interval, in micros; not rounded. */
export interface Prediction {
  readonly meanMicros: number
  readonly lowMicros: number
  readonly highMicros: number
}

/** Standard normal quantile of 90 %, as pinned by the worked example. */
const Z80 = 1.2816

/**
 * Quantile of a gamma of shape `alpha` at the normal quantile `z`, by Wilson and Hilferty:
 * `α(1 − 1/(9α) + z/(3√α))³`, never below 0. Multiplied out, because auctions draw by it and must
 * draw the same bits on every engine (auction/draw.ts).
 */
export function gammaQuantile(alpha: number, z: number): number {
  if (alpha <= 0) return 0
  const root = 1 - 1 / (9 * alpha) + z / (3 * Math.sqrt(alpha))
  return root <= 0 ? 0 : alpha * root * root * root
}

/**
 * Predicts what the publisher gets for a click that pays `perOrderMicros` an order (its share,
 * expected returns already taken off). `logVariance` is that of the amount, 0 when it is fixed;
 * it widens the interval by the delta method.
 */
export function predictPerOrder(
  { alpha, nEff, rate }: RateEstimate,
  { perOrderMicros, logVariance }: { perOrderMicros: number; logVariance: number },
): Prediction {
  const meanMicros = rate * perOrderMicros
  const low = (gammaQuantile(alpha, -Z80) / nEff) * perOrderMicros
  const high = (gammaQuantile(alpha, Z80) / nEff) * perOrderMicros
  if (logVariance === 0 || meanMicros === 0) return { meanMicros, ...around(meanMicros, low, high) }
  // Both factors vary on their own, so the squares of their logarithmic spreads add.
  const valueSpread = Z80 * Math.sqrt(logVariance)
  const spread = (bound: number): number => Math.hypot(Math.log(bound / meanMicros), valueSpread)
  return {
    meanMicros,
    ...around(
      meanMicros,
      low === 0 ? 0 : meanMicros * Math.exp(-spread(low)),
      meanMicros * Math.exp(spread(high)),
    ),
  }
}

/** A very skew posterior can have its mean outside its middle 80 %; an interval must hold it. */
function around(meanMicros: number, low: number, high: number) {
  return { lowMicros: Math.min(low, meanMicros), highMicros: Math.max(high, meanMicros) }
}

/** The terms under which a campaign pays, as far as a prediction needs them. */
export type PayTerms =
  | { readonly model: 'cpc'; readonly bidMicros: number }
  | { readonly model: 'cpa'; readonly ratePpm: number }
  | { readonly model: 'epp'; readonly paymentMicros: number }

/** The terms of a campaign that pays per order, of its columns. */
export function orderTerms(
  model: 'cpa' | 'epp',
  campaign: { readonly rate_ppm: number | null; readonly payment_micros: string | null },
): Exclude<PayTerms, { model: 'cpc' }> {
  return model === 'cpa'
    ? { model, ratePpm: campaign.rate_ppm ?? 0 }
    : { model, paymentMicros: Number(campaign.payment_micros) }
}

export interface ClickOutlook {
  readonly share: number // of the publisher, 0..1
  readonly rate: RateEstimate
  readonly value: ValueEstimate
  readonly returnShare: number // of order value that comes back, 0..1
  readonly validShare: number // of clicks that are billable, 0..1
  readonly fundedShare: number // of the last day during which the budget could pay, 0..1
}

/** Micros that the merchant pays for an order under CPA or EPP; the auction multiplies it by θ. */
export function perOrderMicros(
  terms: Exclude<PayTerms, { model: 'cpc' }>,
  { value, returnShare }: Pick<ClickOutlook, 'value' | 'returnShare'>,
): number {
  if (terms.model === 'epp') return terms.paymentMicros
  return value.meanMicros * (terms.ratePpm / PPM) * (1 - returnShare)
}

/** `best_effort_cpc` of one campaign for one publisher, in micros, with its interval. */
export function predictCpc(terms: PayTerms, outlook: ClickOutlook): Prediction {
  const { share, validShare, fundedShare } = outlook
  if (terms.model === 'cpc') {
    const meanMicros = terms.bidMicros * share * validShare * fundedShare
    return { meanMicros, lowMicros: meanMicros, highMicros: meanMicros }
  }
  return predictPerOrder(outlook.rate, {
    perOrderMicros: perOrderMicros(terms, outlook) * share,
    logVariance: terms.model === 'cpa' ? outlook.value.logVariance : 0,
  })
}
