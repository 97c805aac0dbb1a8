import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { beta, gamma, normal, poisson, seededRandom } from '../../test/support/seeded-random.ts'
import { kitPath } from '../../test/support/shared-data.ts'
import { evenly } from '../../test/support/uniform-numbers.ts'
import { micros } from '../platform/money/money.ts'
import { clickEvidence, countsOf, noEvidence } from './evidence.ts'
import { fitConcentration, fitModel } from './fit.ts'
import { logGamma, logGammaRise } from './log-gamma.ts'
import { networkRate } from './network-prior.ts'
import {
  atRate,
  type Counts,
  drawable,
  estimateRate,
  estimateValue,
  gammaQuantile,
  type OfferedTerms,
  predictCpc,
  predictPerOrder,
  shown,
  UNFITTED,
  UNFITTED_VALUE,
  type ValueCounts,
} from './predict.ts'
import { UNFITTED_MODEL } from './prediction-model.ts'

const DAY = 86_400_000
const positive = (max: number) => fc.double({ min: 1e-3, max, noNaN: true })
const model = fc.record({ globalRate: positive(0.2), k0: positive(5_000), k1: positive(5_000) })
const counts = fc
  .tuple(evenly(0, 1e5), evenly(0, 1))
  .map(([clicks, rate]): Counts => ({ clicks, orders: clicks * rate }))
const sum = (left: Counts, right: Counts): Counts => ({
  clicks: left.clicks + right.clicks,
  orders: left.orders + right.orders,
})

test('reproduces the worked example to 1e-9 (needs ../shared/data/oracles)', (t) => {
  const path = kitPath(t, 'oracles/cpc-prediction-example.json')
  if (path === null) return
  const { inputs, expected, tolerance } = JSON.parse(readFileSync(path, 'utf8'))
  const { global_rate: globalRate, K0: k0, K1: k1, pair, merchant_elsewhere: elsewhere } = inputs
  const estimate = estimateRate({ globalRate, k0, k1 }, sum(elsewhere, pair), pair)
  const perOrderMicros =
    inputs.order_value * 1e6 * inputs.commission * (1 - inputs.returns) * inputs.share
  const { meanMicros, lowMicros, highMicros } = predictPerOrder(estimate, {
    perOrderMicros,
    logVariance: 0,
  })
  const near = (got: number, wanted: number) =>
    assert(Math.abs(got - wanted) <= tolerance, `${got} is not ${wanted}`)
  near(estimate.merchantRate, expected.merchant_rate)
  near(estimate.rate, expected.rate)
  near(meanMicros / 1e6, expected.best_effort_cpc)
  near(lowMicros / 1e6, expected.interval_80[0])
  near(highMicros / 1e6, expected.interval_80[1])
  near((pair.orders / pair.clicks) * (perOrderMicros / 1e6), expected.from_the_raw_pair_rate)
})

test('a rate lies between the pair’s own and the merchant’s rate elsewhere (P30)', () => {
  fc.assert(
    fc.property(model, counts, counts, (of, elsewhere, pair) => {
      const { rate, merchantRate } = estimateRate(of, sum(elsewhere, pair), pair)
      const raw = pair.clicks === 0 ? merchantRate : pair.orders / pair.clicks
      const slack = 1e-9
      assert(rate >= Math.min(raw, merchantRate) - slack)
      assert(rate <= Math.max(raw, merchantRate) + slack)
    }),
  )
})

test('a pair’s own counts are not part of its merchant’s rate elsewhere, and count once', () => {
  const of = { globalRate: 0.02, k0: 100, k1: 400 }
  const elsewhere = { clicks: 900, orders: 8 } // with the network's: 10 orders of 1000 clicks
  for (const pair of [
    { clicks: 0, orders: 0 },
    { clicks: 600, orders: 26 },
  ]) {
    const { merchantRate, alpha, nEff } = estimateRate(of, sum(elsewhere, pair), pair)
    assert.deepEqual([merchantRate, alpha, nEff], [0.01, pair.orders + 4, pair.clicks + 400])
  }
})

test('predicts at most one order per click, though orders come before it is ripe', () => {
  const early = fc.record({ clicks: evenly(0, 1e3), orders: evenly(0, 1e3) })
  const ripe = (counted: Counts) =>
    countsOf({ ...noEvidence(0), ...counted }, UNFITTED_MODEL.delayCurve)
  fc.assert(
    fc.property(early, early, positive(5_000), positive(5_000), (own, elsewhere, k0, k1) => {
      const [pair, merchant] = [ripe(own), ripe(sum(own, elsewhere))]
      const globalRate = networkRate([merchant])
      const { merchantRate, rate } = estimateRate({ globalRate, k0, k1 }, merchant, pair)
      for (const part of [globalRate, merchantRate, rate]) assert(part <= 1 + 1e-12, `${part}`)
    }),
  )
})

test('many clicks outweigh the merchant’s rate, no clicks leave it unchanged (P31)', () => {
  fc.assert(
    fc.property(model, counts, positive(0.3), (of, elsewhere, raw) => {
      const nothing = { clicks: 0, orders: 0 }
      const unseen = estimateRate(of, elsewhere, nothing)
      assert(Math.abs(unseen.rate - unseen.merchantRate) < 1e-12)
      const seen = { clicks: 1e12, orders: 1e12 * raw }
      const known = estimateRate(of, sum(elsewhere, seen), seen)
      assert(Math.abs(known.rate - raw) < 1e-6)
    }),
  )
})

test('the interval contains the mean and narrows with clicks at the same rate (P33)', () => {
  const rate = positive(0.3)
  fc.assert(
    fc.property(
      rate,
      positive(1e5),
      fc.double({ min: 1.1, max: 100, noNaN: true }),
      (at, n, more) => {
        const width = (clicks: number) => {
          const estimate = {
            merchantRate: at,
            merchantError: 0,
            alpha: at * clicks,
            nEff: clicks,
            rate: at,
          }
          const given = { perOrderMicros: 1e6, logVariance: 0 }
          const { meanMicros, lowMicros, highMicros } = predictPerOrder(estimate, given)
          assert(lowMicros <= meanMicros && meanMicros <= highMicros)
          return highMicros - lowMicros
        }
        const wide = width(n) // contains the mean for every shape
        // Wilson and Hilferty's cube is cut at 0 for shapes well under one.
        fc.pre(at * n > 1)
        assert(width(n * more) < wide)
      },
    ),
  )
})

test('an uncertain order value widens the interval but not the mean', () => {
  const estimate = estimateRate(UNFITTED, { clicks: 900, orders: 20 }, { clicks: 90, orders: 3 })
  const fixed = predictPerOrder(estimate, { perOrderMicros: 5e6, logVariance: 0 })
  const open = predictPerOrder(estimate, { perOrderMicros: 5e6, logVariance: 0.04 })
  assert.equal(open.meanMicros, fixed.meanMicros)
  assert(open.lowMicros < fixed.lowMicros && open.highMicros > fixed.highMicros)
})

test('the gamma quantile has the moments of a gamma distribution', () => {
  const moments = (alpha: number) => {
    const draws = Array.from({ length: 20_000 }, (_, index) =>
      gammaQuantile(alpha, normalQuantile((index + 0.5) / 20_000)),
    )
    const mean = draws.reduce((total, draw) => total + draw, 0) / draws.length
    return { mean, variance: draws.reduce((total, draw) => total + (draw - mean) ** 2, 0) / 20_000 }
  }
  const near = (got: number, wanted: number) =>
    assert(Math.abs(got - wanted) < 0.006 * Math.max(1, wanted), `${got}, not ${wanted}`)
  near(moments(1).mean, 0.9965)
  near(moments(1).variance, 0.994)
  near(moments(0.5).mean, 0.494)
  near(moments(20).mean, 19.99)
})

/** Standard normal quantile by bisection of the error function's series; slow and plain. */
function normalQuantile(probability: number): number {
  let [low, high] = [-6, 6]
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2
    if (normalShare(middle) < probability) low = middle
    else high = middle
  }
  return low
}

function normalShare(z: number): number {
  let term = z
  let total = z
  for (let n = 1; n < 120; n++) {
    term *= (-z * z * (2 * n - 1)) / (2 * n * (2 * n + 1))
    total += term
  }
  return 0.5 + total / Math.sqrt(2 * Math.PI)
}

test('an estimate for the auction’s draw keeps its rate and has a shape of at least .5', () => {
  fc.assert(
    fc.property(model, counts, counts, (of, elsewhere, pair) => {
      const estimate = estimateRate(of, sum(elsewhere, pair), pair)
      const drawn = drawable(estimate)
      assert(drawn.alpha >= 0.5 || estimate.rate === 0)
      assert(Math.abs(drawn.alpha / drawn.nEff - estimate.rate) < 1e-12)
    }),
  )
})

/** Orders of these values. */
const sold = (values: readonly number[]): ValueCounts => ({
  orders: values.length,
  value: values.reduce((sum, value) => sum + value, 0),
  logValue: values.reduce((sum, value) => sum + Math.log(value), 0),
  logValueSquare: values.reduce((sum, value) => sum + Math.log(value) ** 2, 0),
})
/** This many orders whose logarithms have the network's variance around this mean. */
const usualOrders = (orders: number, logMean: number): ValueCounts => {
  const { variance, logRatio } = UNFITTED_VALUE
  return {
    orders,
    value: orders * Math.exp(logMean + (logRatio * (orders - 1)) / orders),
    logValue: orders * logMean,
    logValueSquare: orders * logMean ** 2 + (orders - 1) * variance,
  }
}
const meanOf = (merchant: ValueCounts, pair = merchant): number =>
  estimateValue(UNFITTED_VALUE, merchant, pair).meanMicros
const NO_ORDERS = sold([])

test('an order is worth the merchant’s mean order value, at any variance', () => {
  const random = seededRandom(4)
  const kinds: Record<string, () => number> = {
    'one price': () => 100e6,
    'a narrow range': () => 100e6 * Math.exp(0.2 * normal(random) - 0.02),
    'a wide range': () => 100e6 * Math.exp(1.4 * normal(random) - 0.98),
    'two prices': () => (random() < 0.75 ? 20e6 : 340e6),
    'few large ones': () => 200e6 * gamma(random, 0.5),
  }
  for (const [kind, draw] of Object.entries(kinds)) {
    const values = Array.from({ length: 100_000 }, draw)
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const got = meanOf(sold(values))
    assert(Math.abs(got / mean - 1) < 0.03, `${kind}: ${got} for ${mean}`)
    assert(Math.abs(meanOf(sold(values), NO_ORDERS) / mean - 1) < 0.03, `${kind}, elsewhere`)
  }
})

test('a single absurd order changes the value of the others little', () => {
  const usual = Array.from({ length: 100 }, (_, index) => 60e6 * (index % 2 === 0 ? 0.7 : 1.3))
  const plain = meanOf(sold(usual))
  const odd = meanOf(sold([...usual, 10_000_000e6]))
  assert(odd > plain && odd < 3 * plain, `${odd / plain} times`)
  const few = usual.slice(0, 10)
  const times = meanOf(sold([...few, 10_000_000e6])) / meanOf(sold(few))
  assert(times < 15, `${times} times`)
})

test('an unfitted order is worth $60, with an interval that narrows with sales', () => {
  const unknown = estimateValue(UNFITTED_VALUE, NO_ORDERS, NO_ORDERS)
  assert(Math.abs(unknown.meanMicros / 60e6 - 1) < 1e-9)
  const log = UNFITTED_VALUE.globalLogMean + Math.log(4)
  const known = [1, 5, 20, 100, 10_000].map((orders) => {
    const own = usualOrders(orders, log)
    return estimateValue(UNFITTED_VALUE, own, own)
  })
  known.reduce((before, next) => {
    assert(next.meanMicros > before.meanMicros && next.logVariance < before.logVariance)
    return next
  }, unknown)
  assert(Math.abs((known.at(-1)?.meanMicros ?? 0) / Math.exp(log + 0.25) - 1) < 0.01)
  // Twenty orders of the pair weigh as much as the merchant's; five as much as the network's.
  const twenty = usualOrders(20, log)
  const near = (got: number, factor: number) =>
    assert(Math.abs(got / (60e6 * factor) - 1) < 0.1, `${got / 60e6}, not ${factor}`)
  near(meanOf(twenty), 2)
  near(meanOf(usualOrders(5, log), NO_ORDERS), 2)
  // Rounding may give a pair slightly more than its merchant.
  const more = { ...NO_ORDERS, orders: 1e-9 }
  assert(Math.abs(meanOf(NO_ORDERS, more) / 60e6 - 1) < 1e-6)
})

test('the displayed interval includes the uncertainty of the merchant’s rate, around the same rate', () => {
  const of = { globalRate: 0.02, k0: 150, k1: 800 }
  const pair = { clicks: 100, orders: 2 }
  const young = estimateRate(of, pair, pair)
  // The network is the only other evidence: three orders' worth, at 16 of 18 of the estimate.
  const error = (16 / 18) ** 2 / 3
  assert(Math.abs(young.merchantError - error) < 1e-12, String(young.merchantError))
  const wide = shown(young)
  assert(Math.abs(1 / wide.alpha - (1 / 18 + error)) < 1e-12)
  assert(Math.abs(wide.alpha / wide.nEff - young.rate) < 1e-12)
  const old = estimateRate(of, { clicks: 1e6, orders: 2e4 }, pair)
  assert(shown(old).alpha > 0.99 * old.alpha, 'a known merchant adds nothing')
})

test('raises only a shape under .5, and nothing where the rate is 0', () => {
  const barely = { merchantRate: 0.02, merchantError: 0, alpha: 0.49, nEff: 24.5, rate: 0.02 }
  assert.deepEqual(drawable(barely), { ...barely, alpha: 0.5, nEff: 25 })
  const exactly = { merchantRate: 0.02, merchantError: 0, alpha: 0.52, nEff: 26, rate: 0.02 }
  assert.deepEqual(drawable(exactly), exactly)
  const nought = { merchantRate: 0, merchantError: 0, alpha: 0, nEff: 570, rate: 0 }
  assert.deepEqual(drawable(nought), nought)
  assert.deepEqual(predictPerOrder(nought, { perOrderMicros: 5e6, logVariance: 0.04 }), {
    ...{ meanMicros: 0, lowMicros: 0, highMicros: 0 },
  })
})

test('adds the squared errors of rate and value; a bound at 0 stays there', () => {
  const sure = { merchantRate: 0.02, merchantError: 0, alpha: 2e12, nEff: 1e14, rate: 0.02 }
  const { lowMicros, highMicros } = predictPerOrder(sure, {
    perOrderMicros: 5e6,
    logVariance: 0.04,
  })
  assert(Math.abs(lowMicros / (100_000 * Math.exp(-0.2 * 1.2816)) - 1) < 1e-5)
  assert(Math.abs(highMicros / (100_000 * Math.exp(0.2 * 1.2816)) - 1) < 1e-5)
  const both = { merchantRate: 0.02, merchantError: 0, alpha: 20, nEff: 1_000, rate: 0.02 }
  const highest = (logVariance: number) =>
    Math.log(predictPerOrder(both, { perOrderMicros: 5e6, logVariance }).highMicros / 100_000)
  assert(Math.abs(highest(0.04) - Math.hypot(highest(0), 0.2 * 1.2816)) < 1e-9)
  const rare = { merchantRate: 1e-4, merchantError: 0, alpha: 0.01, nEff: 100, rate: 1e-4 }
  const open = predictPerOrder(rare, { perOrderMicros: 5e6, logVariance: 0.04 })
  assert.deepEqual([open.lowMicros, open.meanMicros], [0, 500])
})

test('each model pays by its terms', () => {
  const estimate = {
    share: 0.75,
    rate: { merchantRate: 0.02, merchantError: 0, alpha: 2, nEff: 100, rate: 0.02 },
    value: { meanMicros: 50e6, logVariance: 0 },
    returnShare: 0.1,
    approvedShare: 0.8,
    validShare: 0.9,
    fundedShare: 0.5,
  }
  const cpc = (terms: OfferedTerms) => predictCpc(terms, estimate).meanMicros
  assert.equal(cpc({ model: 'cpc', bidMicros: 600_000 }), 600_000 * 0.75 * 0.9 * 0.5)
  assert(
    Math.abs(cpc({ model: 'cpa', ratePpm: 80_000 }) - 0.02 * 50e6 * 0.08 * 0.9 * 0.8 * 0.75) < 1e-6,
  )
  assert(
    Math.abs(cpc({ model: 'epp', paymentMicros: micros(1_500_000) }) - 0.02 * 1.5e6 * 0.75) < 1e-6,
  )
})

test('order value makes a commission uncertain, but not a fixed payment', () => {
  const estimate = {
    ...{ share: 0.75, returnShare: 0, approvedShare: 1, validShare: 1, fundedShare: 1 },
    rate: { merchantRate: 0.02, merchantError: 0, alpha: 20, nEff: 1000, rate: 0.02 },
  }
  const width = (terms: OfferedTerms, logVariance: number) => {
    const value = { meanMicros: 50e6, logVariance }
    const { lowMicros, highMicros } = predictCpc(terms, { ...estimate, value })
    return highMicros - lowMicros
  }
  const [rate, fixed] = [
    { model: 'cpa', ratePpm: 80_000 },
    { model: 'epp', paymentMicros: micros(4_000_000) },
  ] as const
  assert(width(rate, 0.04) > 1.1 * width(rate, 0))
  assert.equal(width(fixed, 0.04), width(fixed, 0))
})

test('the logarithm of the gamma function matches known values', () => {
  for (const [x, wanted] of [
    [1, 0],
    [2, 0],
    [0.5, 0.5723649429247001],
    [10, 12.801827480081469],
    [1e6, 12815504.569147611],
  ] as const) {
    const error = Math.abs(logGamma(x) - wanted)
    assert(error <= 1e-13 * Math.max(1, Math.abs(wanted)), `${x}: ${logGamma(x)}`)
  }
  assert(Math.abs(logGammaRise(2, 3) - Math.log(24)) < 1e-13)
  assert.equal(logGammaRise(0.1, 0), 0)
})

test('the fit recovers how much the groups of a known world differ', () => {
  const random = seededRandom(11)
  for (const truth of [30, 150, 800]) {
    const groups = Array.from({ length: 400 }, () => {
      const rate = beta(random, { a: truth * 0.05, b: truth * 0.95 })
      const clicks = 200 + Math.floor(random() * 2_000)
      return { clicks, orders: Math.min(clicks, poisson(random, clicks * rate)), rate: 0.05 }
    })
    const fitted = fitConcentration(groups)
    assert(fitted > truth / 1.6 && fitted < truth * 1.6, `${fitted} for ${truth}`)
  }
})

test('shrinks groups that do not differ as far as the grid allows', () => {
  const groups = Array.from({ length: 50 }, () => ({ clicks: 10_000, orders: 500, rate: 0.05 }))
  assert(Math.abs(fitConcentration(groups) - Math.exp(11)) < 1e-6)
})

test('on 18 batting averages shrinkage at least halves the error (needs ../shared/data/oracles)', (t) => {
  const path = kitPath(t, 'oracles/efron-morris-1975.json')
  if (path === null) return
  const { at_bats: clicks, rows } = JSON.parse(readFileSync(path, 'utf8')) as {
    at_bats: number
    rows: { hits: number; rest_of_season: number }[]
  }
  const mean = rows.reduce((total, { hits }) => total + hits, 0) / (rows.length * clicks)
  const k = fitConcentration(rows.map(({ hits }) => ({ clicks, orders: hits, rate: mean })))
  const errorOf = (predict: (hits: number) => number) =>
    rows.reduce((total, row) => total + (predict(row.hits) - row.rest_of_season) ** 2, 0)
  const raw = errorOf((hits) => hits / clicks)
  const shrunk = errorOf((hits) => (hits + k * mean) / (clicks + k))
  assert(Math.abs(raw - 0.0753) < 0.001, String(raw))
  assert(shrunk < 0.0235 && shrunk < raw / 2, String(shrunk))
})

test('a network with too few orders keeps yesterday’s model', () => {
  const evidence = [{ pubId: 1, merchId: 1, evidence: clickEvidence(0, { isValid: true }) }]
  assert.equal(fitModel(evidence, { yesterday: UNFITTED_MODEL, nowMs: DAY }), UNFITTED_MODEL)
})

test('the nightly fit learns rate, order value and how much pairs differ', () => {
  const random = seededRandom(5)
  const evidence = []
  for (let merchId = 1; merchId <= 30; merchId++) {
    const merchantRate = beta(random, { a: 3, b: 97 })
    for (let pubId = 1; pubId <= 20; pubId++) {
      const rate = beta(random, { a: 300 * merchantRate, b: 300 * (1 - merchantRate) })
      const clicks = 500 + Math.floor(random() * 1_000)
      const orders = Math.min(clicks, poisson(random, clicks * rate))
      const logs = Array.from({ length: orders }, () => Math.log(80e6) + (random() - 0.5))
      evidence.push({
        pubId,
        merchId,
        evidence: {
          ...noEvidence(0),
          clicks,
          orders,
          value: logs.reduce((total, log) => total + Math.exp(log), 0),
          logValue: logs.reduce((total, log) => total + log, 0),
          logValueSquare: logs.reduce((total, log) => total + log * log, 0),
        },
      })
    }
  }
  const fitted = fitModel(evidence, { yesterday: UNFITTED_MODEL, nowMs: 0 })
  assert(Math.abs(fitted.rates.globalRate - 0.03) < 0.008, String(fitted.rates.globalRate))
  assert(fitted.rates.k0 > 70 && fitted.rates.k0 < 200, String(fitted.rates.k0))
  assert(fitted.rates.k1 > 250 && fitted.rates.k1 < 700, String(fitted.rates.k1))
  assert(Math.abs(fitted.values.globalLogMean - Math.log(80e6)) < 0.025)
  assert(Math.abs(fitted.values.variance - 1 / 12) < 0.03, String(fitted.values.variance))
})

test('at another base rate merchants and pairs differ by the same factor', () => {
  const rare = atRate(UNFITTED, UNFITTED.globalRate / 10)
  assert.deepEqual(rare, { globalRate: 0.002, k0: 1500, k1: 5700 })
  fc.assert(
    fc.property(fc.double({ min: 1e-4, max: 0.5, noNaN: true }), (rate) => {
      const { globalRate, k0, k1 } = atRate(UNFITTED, rate)
      assert.equal(globalRate, rate)
      // Orders that the wider rate is worth: the basis of 1/√(Kθ).
      assert(Math.abs(k0 * rate - UNFITTED.k0 * UNFITTED.globalRate) < 1e-9)
      assert(Math.abs(k1 * rate - UNFITTED.k1 * UNFITTED.globalRate) < 1e-9)
    }),
  )
})
