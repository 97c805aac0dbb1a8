import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { evenly } from '../../test/support/uniform-numbers.ts'
import { networkLogMean } from './network-value.ts'
import { UNFITTED_VALUE, type ValueCounts } from './predict.ts'

const USUAL = UNFITTED_VALUE.globalLogMean
type Sold = Pick<ValueCounts, 'orders' | 'logValue'>
const sold = (orders: number, logMean: number): Sold => ({
  orders,
  logValue: orders * logMean,
})
const isAway = (merchants: readonly Sold[], wanted: number) => {
  const away = networkLogMean(merchants) - USUAL
  assert(Math.abs(away - wanted) < 1e-9, `${away}, not ${wanted}`)
}

test('an order is worth what is usual until merchants tell, each the more the more it sold', () => {
  isAway([], 0)
  isAway([sold(0, 0)], 0)
  // One order counts half against what is usual, nine count nine tenths.
  isAway([sold(1, USUAL + 0.6)], 0.6 / 3)
  isAway([sold(9, USUAL - 0.95)], -0.95 * (0.9 / 1.9))
  isAway([sold(9, USUAL + 0.5), sold(1, USUAL - 0.5)], (0.9 * 0.5 - 0.5 * 0.5) / (1 + 0.9 + 0.5))
  const many = Array.from({ length: 99 }, () => sold(1e6, USUAL + 3))
  assert(Math.abs(networkLogMean(many) - USUAL - 3) < 0.04, 'what many merchants tell')
})

test('orders of any number and value of one merchant move the others’ by a third at most', () => {
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
