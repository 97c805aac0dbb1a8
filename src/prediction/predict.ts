/**
 * What a click of a publisher's reader at a merchant is worth: the one model behind the auction's
 * CPA and EPP values and behind `best_effort_cpc` (economics 3).
 *
 * A pair with few clicks says little about itself, so its rate is drawn to the merchant's rate
 * elsewhere, and that to the network's, each by as much as the pairs of the network differ:
 *   θ_m = (y_m − y_mp + K0 θ0) / (n_m − n_mp + K0),  θ = (y_mp + K1 θ_m) / (n_mp + K1).
 * K0 and K1 are fitted nightly (fit.ts). Pure: counts in, figures out.
 */
import { PPM } from '../platform/money/money.ts'

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
  /** Squared relative error of `rate` that the merchant's rate brings with it. */
  readonly merchantError: number
  readonly alpha: number // posterior orders, were the merchant's rate known
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
  const merchantOrders = elsewhereOrders + model.k0 * model.globalRate
  const merchantRate = merchantOrders / (elsewhereClicks + model.k0)
  const fromMerchant = model.k1 * merchantRate
  const alpha = pair.orders + fromMerchant
  const nEff = pair.clicks + model.k1
  const merchantError = alpha === 0 ? 0 : (fromMerchant / alpha) ** 2 / merchantOrders
  return { merchantRate, merchantError, alpha, nEff, rate: alpha / nEff }
}

/**
 * The estimate as it is shown: as wide as the merchant's own rate is uncertain as well. The auction
 * draws from the narrower one: draws that wide cost more than they found out
 * (docs/spec/prediction.md#intervals).
 */
export function shown(estimate: RateEstimate): RateEstimate {
  const { alpha, merchantError, rate } = estimate
  if (rate === 0) return estimate
  const shape = 1 / (1 / alpha + merchantError)
  return { ...estimate, alpha: shape, nEff: shape / rate }
}

/** The estimate with the shape that the auction's draw can use: same rate, a floor under alpha. */
export function drawable(estimate: RateEstimate): RateEstimate {
  const { alpha, rate } = estimate
  if (alpha >= ALPHA_MIN || rate === 0) return estimate
  return { ...estimate, alpha: ALPHA_MIN, nEff: ALPHA_MIN / rate }
}

/** Orders of a pair or merchant and the sums of their values, all decayed alike. */
export interface ValueCounts {
  readonly orders: number
  readonly value: number // Σ value in micros
  readonly logValue: number // Σ ln(value)
  readonly logValueSquare: number // Σ ln²
}

/** How the logarithms of order values spread: within a pair, and of means between groups. */
export interface ValueModel {
  readonly globalLogMean: number // of ln(value in micros)
  readonly variance: number // s² of ln(value) within a pair, of merchants on average
  readonly logRatio: number // ln of the mean over the geometric mean, of merchants on average
  readonly k0: number // orders that the network's mean is worth: variance / between merchants
  readonly k1: number // orders that the merchant's mean is worth: variance / between publishers
}

export interface ValueEstimate {
  readonly meanMicros: number // of an order
  readonly logVariance: number // of the estimate of ln(mean), for the interval
}

/** Before anything was fitted: $60 an order, spread by a factor of about two. */
export const UNFITTED_VALUE: ValueModel = {
  // Less half the variance between merchants and pairs, whose mean lies above their median.
  globalLogMean: Math.log(60e6) - 0.25 - (0.5 / 5 + 0.5 / 20) / 2,
  variance: 0.5,
  logRatio: 0.25,
  k0: 5,
  k1: 20,
}

/** Orders that the network's spread is worth against a merchant's own. */
const SPREAD_ORDERS = 5
/** Less than this part of the network's spread is no merchant's: orders of one price may change. */
const SPREAD_MIN = 0.05
/**
 * The most by which a mean may exceed the geometric mean, as a power of e, and times what a
 * lognormal of the same variance has. One order of $10 million among a hundred of $60 makes an
 * order count as $107 and not as $100,000.
 */
const LOG_RATIO_MAX = 2
const RATIO_TIMES_MAX = 1.2

/** How widely a merchant's own orders scatter. */
export interface Spread {
  readonly variance: number // of ln(value)
  readonly logRatio: number // ln of the arithmetic over the geometric mean
}

/** The spread that orders show themselves, nothing drawn to anything; null under two of them. */
export function ownSpread({ orders, value, logValue, logValueSquare }: ValueCounts): Spread | null {
  if (orders <= 1 || value <= 0) return null
  const squares = Math.max(0, logValueSquare - (logValue * logValue) / orders)
  const variance = squares / (orders - 1)
  const ratio = Math.max(0, Math.log(value / orders) - logValue / orders)
  // Of few orders the mean is seldom as far above as it is in the end.
  const logRatio = Math.min((ratio * orders) / (orders - 1), (RATIO_TIMES_MAX * variance) / 2)
  return { variance, logRatio: Math.min(LOG_RATIO_MAX, logRatio) }
}

/** The same, drawn to the network's. */
export function spreadOf(model: ValueModel, counts: ValueCounts): Spread {
  const own = ownSpread(counts)
  if (own === null) return model
  const orders = counts.orders - 1
  const drawn = (shown: number, network: number): number =>
    (orders * shown + SPREAD_ORDERS * network) / (orders + SPREAD_ORDERS)
  return {
    variance: drawn(own.variance, model.variance),
    logRatio: drawn(own.logRatio, model.logRatio),
  }
}

/**
 * Estimates the mean order value of a pair. The geometric mean is drawn to the merchant's and the
 * network's as rates are; the merchant's own spread says how far the mean lies above it
 * (docs/spec/prediction.md#order-value).
 */
export function estimateValue(
  model: ValueModel,
  merchant: ValueCounts,
  pair: ValueCounts,
): ValueEstimate {
  const { variance, logRatio } = spreadOf(model, merchant)
  const narrower = Math.max(SPREAD_MIN, variance / model.variance)
  const [k0, k1] = [model.k0 * narrower, model.k1 * narrower]
  const elsewhere = Math.max(0, merchant.orders - pair.orders)
  const merchantMean =
    (merchant.logValue - pair.logValue + k0 * model.globalLogMean) / (elsewhere + k0)
  const mean = (pair.logValue + k1 * merchantMean) / (pair.orders + k1)
  const fromMerchant = k1 / (pair.orders + k1)
  const scatter = narrower * model.variance
  const error = scatter / (pair.orders + k1) + (fromMerchant ** 2 * scatter) / (elsewhere + k0)
  const ratioError = Math.expm1(2 * logRatio) / (merchant.orders + SPREAD_ORDERS)
  return {
    meanMicros: Math.exp(mean + logRatio + error / 2),
    logVariance: Math.max(error, ratioError),
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
  readonly approvedShare: number // of the commission of standing orders that lasts, 0..1
  readonly validShare: number // of clicks that are billable, 0..1
  readonly fundedShare: number // of the last day during which the budget could pay, 0..1
}

/** Micros that the merchant pays in the end for an order; the auction multiplies it by θ. */
export function perOrderMicros(
  terms: Exclude<PayTerms, { model: 'cpc' }>,
  {
    value,
    returnShare,
    approvedShare,
  }: Pick<ClickOutlook, 'value' | 'returnShare' | 'approvedShare'>,
): number {
  if (terms.model === 'epp') return terms.paymentMicros // Locked at once: nobody rejects it.
  return value.meanMicros * (terms.ratePpm / PPM) * (1 - returnShare) * approvedShare
}

/** `best_effort_cpc` of one campaign for one publisher, in micros, with its interval. */
export function predictCpc(terms: PayTerms, outlook: ClickOutlook): Prediction {
  const { share, validShare, fundedShare } = outlook
  if (terms.model === 'cpc') {
    const meanMicros = terms.bidMicros * share * validShare * fundedShare
    return { meanMicros, lowMicros: meanMicros, highMicros: meanMicros }
  }
  return predictPerOrder(shown(outlook.rate), {
    perOrderMicros: perOrderMicros(terms, outlook) * share,
    logVariance: terms.model === 'cpa' ? outlook.value.logVariance : 0,
  })
}
