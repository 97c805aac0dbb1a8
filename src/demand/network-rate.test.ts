import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evenly } from '../../test/even-numbers.ts'
import fc from '../../test/fast-check.ts'
import { networkRate } from './network-rate.ts'
import type { Counts } from './predict.ts'

const alike = (count: number, of: Counts): Counts[] => Array.from({ length: count }, () => of)

test('a young network is taken to sell as usual until its first merchants have said otherwise', () => {
  const near = (got: number, wanted: number) =>
    assert(Math.abs(got / wanted - 1) < 1e-9, `${got}, not ${wanted}`)
  near(networkRate([]), 0.02)
  near(networkRate([{ clicks: 0, orders: 0 }]), 0.02)
  // At 0.02/e 150e clicks would have brought 3 orders, not 1: with three more a third less.
  near(networkRate([{ clicks: 150 * Math.E, orders: 1 }]), 0.02 / Math.E)
  const rates = [1, 10, 100].map((count) => networkRate(alike(count, { clicks: 1e5, orders: 1e3 })))
  assert(Math.abs((rates[2] ?? 0) / 0.01 - 1) < 0.003)
  assert.deepEqual(rates, rates.toSorted().toReversed(), 'ever nearer to theirs')
})

test('one merchant moves the rate of the network a little, by free clicks or made-up orders without end', () => {
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

test('each merchant says as much of the network as any other once it has orders enough', () => {
  const rate = networkRate([
    ...alike(10, { clicks: 20_000, orders: 200 }),
    ...alike(10, { clicks: 1e6, orders: 20_000 }),
  ])
  assert(rate > 0.015 && rate < 0.0152, String(rate))
})

test('merchants that never tell of an order do not put those that do at nothing', () => {
  const silent = { clicks: 30_000, orders: 0 }
  // However many clicks: one order is missed, 3 of 4, a quarter less.
  assert(Math.abs(networkRate([silent]) / (0.02 * Math.exp(-3 / 4)) - 1) < 1e-9)
  // Whose last order lies long back becomes like them by and by.
  const fading = networkRate([{ ...silent, orders: 0.01 }])
  assert(Math.abs(fading / networkRate([silent]) - 1) < 0.05, String(fading))
  const rate = networkRate([...alike(20, silent), ...alike(10, { clicks: 30_000, orders: 600 })])
  assert(rate > 0.0133 && rate < 0.0137, String(rate))
})
