import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { evenly } from '../../test/support/uniform-numbers.ts'
import { type Evidence, noEvidence } from './evidence.ts'
import { fitConcentration, fitModel } from './fit.ts'
import { logGammaRise } from './log-gamma.ts'
import { networkLogMean } from './network-prior.ts'
import { atRate, UNFITTED, UNFITTED_VALUE } from './predict.ts'
import { UNFITTED_MODEL } from './prediction-model.ts'

const [LOG, VARIANCE] = [18, 0.5]

/** Orders of a pair with this mean of log values, and VARIANCE around it. */
function orders(count: number, mean: number): Partial<Evidence> {
  const squares = count * mean * mean + Math.max(0, count - 1) * VARIANCE
  return { clicks: 1_000, orders: count, logValue: count * mean, logValueSquare: squares }
}

function fit(
  pairs: readonly (Partial<Evidence> & { readonly merchId: number })[],
  yesterday = UNFITTED_MODEL,
) {
  const evidence = pairs.map(({ merchId, ...some }, index) => ({
    pubId: index + 1,
    merchId,
    evidence: { ...noEvidence(0), ...some },
  }))
  return fitModel(evidence, { yesterday, nowMs: 0 })
}

const near = (got: number, wanted: number) =>
  assert(Math.abs(got / wanted - 1) < 1e-9, `${got}, not ${wanted}`)

test('the wider mean is worth the ratio of the variance within to the variance between, in orders', () => {
  // Two merchants a half apart with two pairs each, one apart; a third without orders.
  const { values } = fit([
    { merchId: 1, ...orders(11, LOG + 0.25 + 0.5) },
    { merchId: 1, ...orders(11, LOG + 0.25 - 0.5) },
    { merchId: 2, ...orders(11, LOG - 0.25 + 0.5) },
    { merchId: 2, ...orders(11, LOG - 0.25 - 0.5) },
    { merchId: 3, ...orders(0, LOG) },
  ])
  near(values.variance, VARIANCE)
  // By analysis of variance: the variation of g means of n orders each beyond chance, `Σ n·d² − (g
  // − 1)·s²`, is the variance between times `N − Σ n² / N`.
  const between = {
    merchants: (2 * 22 * 0.25 ** 2 - VARIANCE) / (44 - (2 * 22 ** 2) / 44),
    pairs: (2 * 11 * 0.5 ** 2 - VARIANCE) / (22 - (2 * 11 ** 2) / 22),
  }
  // Smoothed by half with yesterday's.
  near(values.k0, Math.sqrt((VARIANCE / between.merchants) * UNFITTED_VALUE.k0))
  near(values.k1, Math.sqrt((VARIANCE / between.pairs) * UNFITTED_VALUE.k1))
})

test('shrinks values that differ by chance, and keeps ones that lie far apart', () => {
  const alike = fit([1, 2, 3].map((merchId) => ({ merchId, ...orders(20, LOG) }))).values
  near(alike.k0, Math.sqrt(1_000 * UNFITTED_VALUE.k0))
  near(alike.k1, Math.sqrt(1_000 * UNFITTED_VALUE.k1))
  const apart = fit([1, 2, 3].map((merchId) => ({ merchId, ...orders(20, LOG * merchId) }))).values
  near(apart.k0, Math.sqrt(UNFITTED_VALUE.k0))
})

test('uses yesterday’s variance until twenty orders of pairs with several sales', () => {
  const spread = (count: number) =>
    fit([
      { merchId: 1, ...orders(count, LOG) },
      ...Array.from({ length: 9 }, () => ({ merchId: 2, ...orders(1, LOG) })),
    ]).values
  const globalLogMean = networkLogMean(
    [20, 9].map((count) => ({ orders: count, logValue: count * LOG })),
  )
  assert.deepEqual(spread(20), { ...UNFITTED_VALUE, globalLogMean })
  near(spread(21).variance, VARIANCE)
})

test('a merchant with extreme order values counts as one with widely varying values, no more', () => {
  const count = 11
  // Cents and thousands of dollars alternate: their logarithms lie 6 above and below.
  const alternating = { ...orders(count, LOG), logValueSquare: count * (LOG ** 2 + 6 ** 2) }
  const made = [1, 2, 3].map((merchId) => ({ merchId, ...orders(count, LOG) }))
  // The default variance counts as one merchant, eleven orders as two thirds of one.
  const spread = (weight: number) =>
    ((3 * VARIANCE * 10) / 15 + weight * 2 + VARIANCE) / (30 / 15 + weight + 1)
  near(fit([...made, { merchId: 4, ...alternating }]).values.variance, spread(10 / 15))
  // The same with many publishers, some of which had ordinary orders.
  const pairs = [alternating, orders(count, LOG)].map((some) => ({ merchId: 4, ...some }))
  near(fit([...made, ...pairs]).values.variance, spread(21 / 26))
})

test('fits a network with twenty orders or more', () => {
  assert.equal(fit([{ merchId: 1, ...orders(60, LOG), clicks: 1 }]), UNFITTED_MODEL, 'of one click')
  assert.equal(fit([{ merchId: 1, ...orders(19, LOG) }]), UNFITTED_MODEL)
  assert.notEqual(fit([{ merchId: 1, ...orders(20, LOG) }]), UNFITTED_MODEL)
})

test('finds the most likely concentration between e and e to the eleventh', () => {
  const group = fc
    .record({ clicks: evenly(0, 5_000), times: evenly(0, 4), rate: evenly(0.0001, 0.2) })
    .map(({ clicks, times, rate }) => ({ clicks, orders: clicks * rate * times, rate }))
  const grid = Array.from({ length: 121 }, (_, step) => Math.exp(1 + step / 12))
  fc.assert(
    fc.property(fc.array(group, { minLength: 1, maxLength: 12 }), (groups) => {
      const likelihoodOf = (k: number) =>
        groups.reduce((sum, { clicks, orders: y, rate }) => {
          const under = (a: number, b: number) =>
            logGammaRise(a, y) + logGammaRise(b, clicks - y) - logGammaRise(a + b, clicks)
          const ways = [under(k * rate, k * (1 - rate)), Math.log(0.001) + under(1, 1)]
          const most = Math.max(...ways)
          return sum + most + Math.log(ways.reduce((all, way) => all + Math.exp(way - most), 0))
        }, 0)
      // Compares likelihoods, not K: with little evidence the last digits decide among all K. With
      // mixed groups, the slightly higher of two peaks may be missed.
      const missed = Math.max(...grid.map(likelihoodOf)) - likelihoodOf(fitConcentration(groups))
      assert(missed < 0.2, `${missed} of the log likelihood`)
    }),
  )
})

test('smooths with yesterday’s weights at today’s rate', () => {
  const pairs = [10, 20, 40].map((count, merchId) => ({ merchId, ...orders(count, LOG) }))
  const [one, other] = [UNFITTED, atRate(UNFITTED, 0.04)].map(
    (rates) => fit(pairs, { ...UNFITTED_MODEL, rates }).rates,
  )
  near(one?.k0 ?? 0, other?.k0 ?? 1)
  near(one?.k1 ?? 0, other?.k1 ?? 1)
})

test('keeps yesterday’s rates while there are no more ripe clicks than orders', () => {
  const rates = (clicks: number) => fit([{ merchId: 1, ...orders(30, LOG), clicks }]).rates
  assert.equal(rates(30), UNFITTED)
  assert.notEqual(rates(31), UNFITTED)
})

test('a merchant with more orders than clicks does not hide how much publishers differ', () => {
  const pairs = (merchId: number, counts: readonly (readonly [number, number])[]) =>
    counts.map(([clicks, count]) => ({ merchId, ...orders(count, LOG), clicks }))
  const plain = [1, 2, 3, 4].flatMap((merchId) =>
    pairs(merchId, [
      [1_000, 10],
      [1_000, 20],
      [1_000, 40],
    ]),
  )
  const manyPerClick = pairs(5, [
    [50, 200],
    [50, 200],
  ])
  const { k1 } = fit([...plain, ...manyPerClick]).rates
  assert(k1 < 600, `${k1}: so do publishers`)
})

test('clicks that all brought an order do not change the fit for others', () => {
  const counts = [8, 10, 20, 40]
  const honest = counts.flatMap((first, merchId) =>
    counts.map((second) => ({ merchId, ...orders(first + second, LOG), clicks: 2_000 })),
  )
  const { rates } = fit(honest)
  for (const count of [60, 1_000, 50_000]) {
    const madeUp = { merchId: 9, ...orders(count, LOG), clicks: count }
    const seen = atRate(fit([...honest, madeUp]).rates, rates.globalRate)
    assert(Math.abs(Math.log(seen.k0 / rates.k0)) < 0.5, `${seen.k0}, not ${rates.k0}`)
    assert(Math.abs(Math.log(seen.k1 / rates.k1)) < 0.5, `${seen.k1}, not ${rates.k1}`)
  }
})
