import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { fitDelays, type Waits, waitingAge } from './delay.ts'
import { type DelayCurve, shareWaiting } from './evidence.ts'
import { UNFITTED_MODEL } from './prediction-model.ts'

interface World {
  readonly meanMs: number
  readonly hours: number // since the first click
  readonly ordersAnHour: number // in the end
  readonly merchId?: number
}

/** The visible delays of orders after evenly spread clicks: those that came in time. */
function waitsOf({ meanMs, hours, ordersAnHour, merchId = 1 }: World): Waits[] {
  const random = seededRandom(3)
  return Array.from({ length: hours * ordersAnHour }, (_, index) => {
    const ageMs = (index * HOUR_MS) / ordersAnHour + 1
    return { merchId, orders: 1, waitMs: -meanMs * Math.log(1 - random()), ageMs }
  }).filter(({ waitMs, ageMs }) => waitMs < ageMs)
}

const AGES = [1, 6, 24, 72, 240].map((hours) => hours * HOUR_MS)

function assertNear(curve: DelayCurve, wanted: (ageMs: number) => number, within: number): void {
  for (const ageMs of AGES) {
    const [got, right] = [shareWaiting(curve, ageMs), wanted(ageMs)]
    const difference = `${got} and not ${right} wait after ${ageMs / HOUR_MS} hours`
    assert(Math.abs(got - right) < within, difference)
  }
}

const exponential = (meanMs: number) => (ageMs: number) => Math.exp(-ageMs / meanMs)

test('learns the delay curve long before the last reader has bought', () => {
  // A mean of the visible delays would be 8, 20 and 46 hours.
  for (const hours of [120, 240]) {
    const waits = waitsOf({ meanMs: 72 * HOUR_MS, hours, ordersAnHour: 20 })
    const { delayCurveByMerchant: of } = fitDelays(waits)
    assertNear(of[1] ?? [], exponential(72 * HOUR_MS), 0.1)
  }
})

test('distinguishes readers who buy within the hour from readers who take a week', () => {
  const [soon, late] = [HOUR_MS, 7 * DAY_MS].map((meanMs) =>
    waitsOf({ meanMs, hours: 600, ordersAnHour: 1 }),
  )
  const { delayCurveByMerchant: of } = fitDelays([...(soon ?? []), ...(late ?? [])])
  const half = (ageMs: number) => (exponential(HOUR_MS)(ageMs) + exponential(7 * DAY_MS)(ageMs)) / 2
  assertNear(of[1] ?? [], half, 0.06)
})

test('the delay curve is the default without orders, and almost unchanged by two hours of them', () => {
  const { delayCurve: usual } = UNFITTED_MODEL
  assert(Math.abs(usual.reduce((sum, share) => sum + share, 0) - 1) < 1e-12)
  assert.deepEqual(
    fitDelays([]).delayCurve.map((share) => share.toFixed(9)),
    usual.map((share) => share.toFixed(9)),
  )
  const few = waitsOf({ meanMs: 12 * HOUR_MS, hours: 2, ordersAnHour: 50 })
  assertNear(fitDelays(few).delayCurve, (ageMs) => shareWaiting(usual, ageMs), 0.15)
})

test('a merchant’s curve follows its own orders, with twenty of the network’s', () => {
  const many = waitsOf({ meanMs: 2 * HOUR_MS, hours: 400, ordersAnHour: 5 })
  const some = waitsOf({ meanMs: 10 * HOUR_MS, hours: 400, ordersAnHour: 1, merchId: 2 })
  const one = { merchId: 3, orders: 1, waitMs: 30 * HOUR_MS, ageMs: 400 * HOUR_MS }
  const { delayCurve, delayCurveByMerchant: of, delayOrders } = fitDelays([...many, ...some, one])
  assert.equal(delayOrders, many.length + some.length + 1)
  assertNear(of[1] ?? [], exponential(2 * HOUR_MS), 0.1)
  assertNear(of[2] ?? [], exponential(10 * HOUR_MS), 0.08)
  assertNear(of[3] ?? [], (ageMs) => shareWaiting(delayCurve, ageMs), 0.05)
  assert(shareWaiting(of[3] ?? [], DAY_MS) > shareWaiting(delayCurve, DAY_MS))
})

test('no merchant moves the network’s curve by more than four orders do', () => {
  for (const [count, orders] of [
    [3, 400],
    [40, 1],
    [3, 3],
  ] as const) {
    const others = Array.from({ length: count }, (_, merchId) =>
      waitsOf({ meanMs: 2 * HOUR_MS, hours: 400, ordersAnHour: 1, merchId }).slice(-orders),
    ).flat()
    const honest = fitDelays(others).delayCurve
    const counted = count * Math.min(4, orders) + 1
    for (const waitMs of [0, 620 * HOUR_MS]) {
      const made = { merchId: 99, orders: 10_000, waitMs: 10_000 * waitMs, ageMs: 640 * HOUR_MS }
      const { delayCurve, delayCurveByMerchant: of } = fitDelays([...others, made])
      const share = 4 / (counted + 4)
      assertNear(delayCurve, (ageMs) => shareWaiting(honest, ageMs), share)
      const own = shareWaiting(of[99] ?? [], DAY_MS)
      assert(waitMs === 0 ? own < 0.01 : own > 0.9, `its own follow its reports: ${own}`)
    }
  }
})

test('at the waiting age, the given share of orders is still to come', () => {
  const { delayCurve } = UNFITTED_MODEL
  for (const share of [0.5, 0.1, 0.01]) {
    const got = shareWaiting(delayCurve, waitingAge(delayCurve, share))
    assert(Math.abs(got / share - 1) < 1e-6, `${got}, not ${share}`)
  }
})
