/**
 * Predicts the value of a click of a publisher's reader at a merchant: the one model behind the
 * auction's CPA and EPP values and behind `best_effort_cpc` (docs/spec/prediction.md).
 *
 * A pair with few clicks has little evidence, so its rate is shrunk to the merchant's rate
 * elsewhere, and that to the network's, each by as much as the pairs of the network differ: θ_m =
 * (y_m − y_mp + K0 θ0) / (n_m − n_mp + K0),  θ = (y_mp + K1 θ_m) / (n_mp + K1). K0 and K1 are
 * fitted nightly (fit.ts). Pure: counts in, figures out.
 */
import type { OrderTerms } from '../events/pay-terms.ts'
import { micros, PPM } from '../platform/money/money.ts'

/**
 * Ripe clicks of a pair, or of a whole merchant, and their orders, which never exceed the clicks.
 */
export interface Counts {
  readonly clicks: number
  readonly orders: number
}

/** The nightly fit's parameters of the network. */
export interface RateModel {
  readonly globalRate: number // θ0, orders per click
  readonly k0: number // clicks that the network's rate is worth against a merchant's own
  readonly k1: number // clicks that the merchant's rate is worth against a pair's own
}

/** Posterior of a pair's rate: a gamma of shape `alpha` over `nEff` clicks. */
export interface RateEstimate {
  readonly merchantRate: number // without this publisher
  /** Squared relative error of `rate` caused by the merchant's rate. */
  readonly merchantError: number
  readonly alpha: number // posterior orders if the merchant's rate were known
  readonly nEff: number // posterior clicks
  readonly rate: number // alpha / nEff, orders per click
}

/** Before the first fit: a rate and weights usual in commerce, soon outvoted by counts. */
export const UNFITTED: RateModel = { globalRate: 0.02, k0: 150, k1: 570 }

/**
 * The model at another base rate. It keeps the factor by which merchants and pairs differ,
 * `1/√(Kθ)`, and not the number of clicks that the wider rate is worth: 150 clicks are much
 * evidence where one in fifty brings an order, and little where one in a thousand does.
 */
export function atRate({ globalRate, k0, k1 }: RateModel, rate: number): RateModel {
  const factor = globalRate / rate
  return { globalRate: rate, k0: k0 * factor, k1: k1 * factor }
}

/** Below half an order the approximation of the gamma quantile breaks down. */
const ALPHA_MIN = 0.5

/** Estimates a pair's rate; `merchant` counts all publishers, this one included. */
export function estimateRate(model: RateModel, merchant: Counts, pair: Counts): RateEstimate {
  const elsewhereOrders = Math.max(0, merchant.orders - pair.orders)
  // The pair's cap of one order per click may make the remainder negative.
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
 * The estimate for display: its width includes the uncertainty of the merchant's own rate. The
 * auction draws from the narrower one: draws that wide cost more than they taught
 * (docs/spec/prediction.md#intervals).
 */
export function shown(estimate: RateEstimate): RateEstimate {
  const { alpha, merchantError, rate } = estimate
  if (rate === 0) return estimate
  const shape = 1 / (1 / alpha + merchantError)
  return { ...estimate, alpha: shape, nEff: shape / rate }
}

/** The estimate in a shape for the auction's draw: same rate, a floor under alpha. */
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

/** The variance of the logarithm of order values: within a pair, and of means between groups. */
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

/** Before the first fit: $60 an order, with a factor of about two. */
export const UNFITTED_VALUE: ValueModel = {
  // Less half the variance between merchants and pairs, whose mean exceeds their median.
  globalLogMean: Math.log(60e6) - 0.25 - (0.5 / 5 + 0.5 / 20) / 2,
  variance: 0.5,
  logRatio: 0.25,
  k0: 5,
  k1: 20,
}

/** Orders that the network's variance is worth against a merchant's own. */
const SPREAD_ORDERS = 5
/** Minimum variance of a merchant, relative to the network's: equal prices may change. */
const SPREAD_MIN = 0.05
/**
 * Caps on the excess of a mean over the geometric mean: as a power of e, and as a multiple of a
 * lognormal's. One order of $10 million among a hundred of $60 then counts as $107 per order and
 * not as $100,000.
 */
const LOG_RATIO_MAX = 2
const RATIO_TIMES_MAX = 1.2

/** The variance of a merchant's own orders. */
export interface Spread {
  readonly variance: number // of ln(value)
  readonly logRatio: number // ln of the arithmetic over the geometric mean
}

/** The orders' own variance, without shrinkage; null under two of them. */
export function ownSpread({ orders, value, logValue, logValueSquare }: ValueCounts): Spread | null {
  if (orders <= 1 || value <= 0) return null
  const squares = Math.max(0, logValueSquare - (logValue * logValue) / orders)
  const variance = squares / (orders - 1)
  const ratio = Math.max(0, Math.log(value / orders) - logValue / orders)
  // The excess in a few orders is usually smaller than in many.
  const logRatio = Math.min((ratio * orders) / (orders - 1), (RATIO_TIMES_MAX * variance) / 2)
  return { variance, logRatio: Math.min(LOG_RATIO_MAX, logRatio) }
}

/** The same, shrunk to the network's. */
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
 * Estimates the mean order value of a pair. The geometric mean is shrunk to the merchant's and the
 * network's like a rate; the merchant's variance gives the distance of the mean above it
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

/** A predicted amount per click with its 80 % interval, in micros; not rounded. */
export interface Prediction {
  readonly meanMicros: number
  readonly lowMicros: number
  readonly highMicros: number
}

/** Standard normal quantile of 90 %, as pinned by the worked example. */
const Z80 = 1.2816

/**
 * Quantile of a gamma of shape `alpha` at the normal quantile `z`, by Wilson and Hilferty: `α(1 −
 * 1/(9α) + z/(3√α))³`, at least 0. Multiplied out, because auctions draw by it and must draw the
 * same bits on every engine (auction/draw.ts).
 */
export function gammaQuantile(alpha: number, z: number): number {
  if (alpha <= 0) return 0
  const root = 1 - 1 / (9 * alpha) + z / (3 * Math.sqrt(alpha))
  return root <= 0 ? 0 : alpha * root * root * root
}

/**
 * Predicts the publisher's earnings per click at `perOrderMicros` an order (its share, less
 * expected returns). `logVariance` is that of the amount, 0 when it is fixed; it widens the
 * interval by the delta method.
 */
export function predictPerOrder(
  { alpha, nEff, rate }: RateEstimate,
  { perOrderMicros, logVariance }: { perOrderMicros: number; logVariance: number },
): Prediction {
  const meanMicros = rate * perOrderMicros
  const low = (gammaQuantile(alpha, -Z80) / nEff) * perOrderMicros
  const high = (gammaQuantile(alpha, Z80) / nEff) * perOrderMicros
  if (logVariance === 0 || meanMicros === 0) return { meanMicros, ...around(meanMicros, low, high) }
  // Both factors are independent, so the squares of their logarithmic errors add.
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

/**
 * The mean of a very skewed posterior can lie outside its middle 80 %; the interval must contain
 * it.
 */
function around(meanMicros: number, low: number, high: number) {
  return { lowMicros: Math.min(low, meanMicros), highMicros: Math.max(high, meanMicros) }
}

/** The terms that a campaign offers. */
export type OfferedTerms = { readonly model: 'cpc'; readonly bidMicros: number } | OrderTerms

/** The pay terms from the columns of a campaign that pays per order. */
export function orderTerms(
  model: 'cpa' | 'epp',
  campaign: { readonly rate_ppm: number | null; readonly payment_micros: string | null },
): OrderTerms {
  return model === 'cpa'
    ? { model, ratePpm: campaign.rate_ppm ?? 0 }
    : { model, paymentMicros: micros(Number(campaign.payment_micros)) }
}

export interface ClickEstimate {
  readonly share: number // of the publisher, 0..1
  readonly rate: RateEstimate
  readonly value: ValueEstimate
  readonly returnShare: number // of order value that is returned, 0..1
  readonly approvedShare: number // of commission that is never rejected, 0..1
  readonly validShare: number // of clicks that are billable, 0..1
  readonly fundedShare: number // of the last day during which the budget could pay, 0..1
}

/**
 * The merchant's expected final payment for an order, in micros; the auction multiplies it by θ.
 */
export function perOrderMicros(
  terms: OrderTerms,
  {
    value,
    returnShare,
    approvedShare,
  }: Pick<ClickEstimate, 'value' | 'returnShare' | 'approvedShare'>,
): number {
  if (terms.model === 'epp') return terms.paymentMicros // Locked at once: nobody rejects it.
  return value.meanMicros * (terms.ratePpm / PPM) * (1 - returnShare) * approvedShare
}

/** `best_effort_cpc` of one campaign for one publisher, in micros, with its interval. */
export function predictCpc(terms: OfferedTerms, estimate: ClickEstimate): Prediction {
  const { share, validShare, fundedShare } = estimate
  if (terms.model === 'cpc') {
    const meanMicros = terms.bidMicros * share * validShare * fundedShare
    return { meanMicros, lowMicros: meanMicros, highMicros: meanMicros }
  }
  return predictPerOrder(shown(estimate.rate), {
    perOrderMicros: perOrderMicros(terms, estimate) * share,
    logVariance: terms.model === 'cpa' ? estimate.value.logVariance : 0,
  })
}
