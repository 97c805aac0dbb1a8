import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { evenly } from '../../test/support/uniform-numbers.ts'
import { networkLogMean, networkRate } from './network-prior.ts'
import { type Counts, UNFITTED_VALUE, type ValueCounts } from './predict.ts'

const alike = (count: number, of: Counts): Counts[] => Array.from({ length: count }, () => of)

test('a young network has the default rate until its first merchants have enough evidence', () => {
  const near = (got: number, wanted: number) =>
    assert(Math.abs(got / wanted - 1) < 1e-9, `${got}, not ${wanted}`)
  near(networkRate([]), 0.02)
  near(networkRate([{ clicks: 0, orders: 0 }]), 0.02)
  // At 0.02/e, 75e clicks would have brought 1.5 orders: with three more 3 of 4.5, a third less.
  near(networkRate([{ clicks: 75 * Math.E, orders: 0 }]), 0.02 / Math.E)
  const rates = [1, 10, 100].map((count) => networkRate(alike(count, { clicks: 1e5, orders: 1e3 })))
  assert(Math.abs((rates[2] ?? 0) / 0.01 - 1) < 0.003)
  assert.deepEqual(rates, rates.toSorted().toReversed(), 'ever nearer to theirs')
})

test('one merchant moves the network’s rate little, by any number of free clicks or fake orders', () => {
  const honest = alike(3, { clicks: 300, orders: 6 })
  const anything = fc
    .tuple(evenly(0, 1e7), evenly(0, 1))
    .map(([clicks, rate]): Counts => ({ clicks, orders: clicks * rate }))
  fc.assert(
    fc.property(anything, (of) => {
      const rate = networkRate([...honest, of])
      assert(rate > 0.013 && rate < 0.032, String(rate))
    }),
    { examples: [[{ clicks: 5_000, orders: 0 }], [{ clicks: 60, orders: 60 }]] },
  )
})

test('each merchant with enough orders has the same weight in the network', () => {
  const rate = networkRate([
    ...alike(10, { clicks: 20_000, orders: 200 }),
    ...alike(10, { clicks: 1e6, orders: 20_000 }),
  ])
  assert(rate > 0.015 && rate < 0.0152, String(rate))
})

test('merchants that never report an order, however many, do not push the rate to zero', () => {
  const silent = { clicks: 30_000, orders: 0 }
  const selling = alike(10, { clicks: 30_000, orders: 600 })
  for (const count of [20, 1_000]) {
    const rate = networkRate([...selling, ...alike(count, silent)])
    assert(rate > 0.015 && rate < 0.016, `${rate} beside ${count}`)
  }
  // Nor each other: together they weigh half a merchant against the default.
  const atFirst = networkRate(alike(1_000, silent))
  assert(Math.abs(atFirst / (0.02 * Math.exp(-3 / 2)) - 1) < 1e-9, String(atFirst))
  const longAgo = networkRate([{ ...silent, orders: 0.01 }])
  assert(Math.abs(longAgo / atFirst - 1) < 0.02, `${longAgo}, where an order is nearly forgotten`)
})

test('free clicks of any number of merchants leave three young ones at least half their rate', () => {
  const honest = alike(3, { clicks: 300, orders: 6 })
  const rate = networkRate([...honest, ...alike(1_000, { clicks: 5_000, orders: 0 })])
  assert(rate > 0.012, String(rate))
})

const USUAL = UNFITTED_VALUE.globalLogMean
type Sold = Pick<ValueCounts, 'orders' | 'logValue'>
const sold = (orders: number, logMean: number): Sold => ({
  orders,
  logValue: orders * logMean,
})
const isUnreachable = (merchants: readonly Sold[], wanted: number) => {
  const away = networkLogMean(merchants) - USUAL
  assert(Math.abs(away - wanted) < 1e-9, `${away}, not ${wanted}`)
}

test('order values start at the default and follow merchants as they sell more', () => {
  isUnreachable([], 0)
  isUnreachable([sold(0, 0)], 0)
  // One order weighs half against the default, nine weigh nine tenths.
  isUnreachable([sold(1, USUAL + 0.6)], 0.6 / 3)
  isUnreachable([sold(9, USUAL - 0.95)], -0.95 * (0.9 / 1.9))
  isUnreachable(
    [sold(9, USUAL + 0.5), sold(1, USUAL - 0.5)],
    (0.9 * 0.5 - 0.5 * 0.5) / (1 + 0.9 + 0.5),
  )
  const many = Array.from({ length: 99 }, () => sold(1e6, USUAL + 3))
  assert(Math.abs(networkLogMean(many) - USUAL - 3) < 0.04, 'many merchants’ orders')
})

test('one merchant’s orders move the others’ value by a third at most', () => {
  const honest = Array.from({ length: 3 }, () => sold(20, USUAL))
  const anything = fc
    .tuple(evenly(0, 1e6), evenly(0, Math.log(Number.MAX_SAFE_INTEGER)))
    .map(([orders, logMean]) => sold(orders, logMean))
  fc.assert(
    fc.property(anything, (of) => {
      const away = networkLogMean([...honest, of]) - USUAL
      assert(Math.abs(away) < Math.log(1.3), String(away))
    }),
    { examples: [[sold(200, Math.log(5_000e6))], [sold(2_000, Math.log(10_000))]] },
  )
})
