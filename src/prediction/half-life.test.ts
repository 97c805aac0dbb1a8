import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gamma, normal, poisson, seededRandom } from '../../test/support/seeded-random.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { fitHalfLife, type MerchantDay } from './half-life.ts'
import { UNFITTED_MODEL } from './prediction-model.ts'

const DAYS = 120
const NOW = DAYS * DAY_MS

/** Merchants whose rates drift by this much a day. */
function network(merchants: number, driftPerDay: number): MerchantDay[] {
  const random = seededRandom(8)
  return Array.from({ length: merchants }, (_, merchId) => {
    let rate = (0.03 * gamma(random, 4)) / 4
    return Array.from({ length: DAYS }, (_, day): MerchantDay => {
      rate = Math.min(0.3, rate * Math.exp(driftPerDay * normal(random)))
      return { merchId, day, clicks: 100, orders: poisson(random, 100 * rate) }
    })
  }).flat()
}

test('learns constant rates from the whole past, and drifting ones from the last weeks', () => {
  assert.equal(fitHalfLife(network(400, 0), UNFITTED_MODEL, NOW), 160)
  assert.equal(fitHalfLife(network(30, 0.2), UNFITTED_MODEL, NOW), 10)
})

test('keeps the half-life without evidence, and does not hold on to it against evidence', () => {
  for (const halfLife of [10, 40, 160] as const) {
    assert.equal(fitHalfLife([], { ...UNFITTED_MODEL, halfLife }, NOW), halfLife)
    const steady = fitHalfLife(network(400, 0), { ...UNFITTED_MODEL, halfLife }, NOW)
    assert.equal(steady, 160)
  }
})

test('no single merchant decides the half-life of the others', () => {
  const steady = network(400, 0)
  const wild = Array.from({ length: DAYS }, (_, day) => ({
    ...{ merchId: 99, day, clicks: 100_000 },
    orders: day % 20 < 10 ? 50_000 : 0,
  }))
  assert.equal(fitHalfLife([...steady, ...wild], UNFITTED_MODEL, NOW), 160)
  assert.equal(fitHalfLife(wild, UNFITTED_MODEL, NOW), 10, 'alone it would')
})
