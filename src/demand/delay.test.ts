import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../test/seeded-random.ts'
import { DAY_MS, HOUR_MS } from '../platform/timestamp.ts'
import { fitDelays, type Waits } from './delay.ts'
import { UNFITTED_MODEL } from './prediction-model.ts'

interface World {
  readonly delayMs: number
  readonly hours: number // since the first click
  readonly ordersAnHour: number // in the end
  readonly merchId?: number
}

/** What has been seen of orders after clicks that came evenly: those that came in time. */
function waitsOf({ delayMs, hours, ordersAnHour, merchId = 1 }: World): Waits[] {
  const random = seededRandom(3)
  return Array.from({ length: hours * ordersAnHour }, (_, index) => {
    const ageMs = (index * HOUR_MS) / ordersAnHour + 1
    return { merchId, orders: 1, waitMs: -delayMs * Math.log(1 - random()), ageMs }
  }).filter(({ waitMs, ageMs }) => waitMs < ageMs)
}

const fitted = (world: World): number => fitDelays(waitsOf(world)).delayMs

function assertNear(got: number, wanted: number, within: number): void {
  const factor = Math.max(got / wanted, wanted / got)
  assert(factor < 1 + within, `${got / HOUR_MS} hours, not ${wanted / HOUR_MS}`)
}

test('how long readers wait is known long before the last of them has bought', () => {
  // A mean of the waits that were seen would be 8, 20 and 46 hours.
  for (const hours of [24, 72, 240]) {
    const world = { delayMs: 72 * HOUR_MS, hours, ordersAnHour: 1_000 }
    assertNear(fitted(world), 72 * HOUR_MS, 0.25)
  }
})

test('readers who buy at once are known within two hours', () => {
  assertNear(fitted({ delayMs: 300_000, hours: 2, ordersAnHour: 40 }), 300_000, 0.25)
})

test('a few orders say nothing against what is usual', () => {
  const usual = UNFITTED_MODEL.delayMs
  assertNear(fitDelays([]).delayMs, usual, 0.02)
  // Within the hour they could be either way.
  const few = { delayMs: 12 * HOUR_MS, hours: 1, ordersAnHour: 200 }
  assertNear(fitted(few), usual, 0.4)
})

test('a merchant’s orders take as long as they took, twenty of the network’s beside them', () => {
  const many = waitsOf({ delayMs: 2 * HOUR_MS, hours: 400, ordersAnHour: 5 })
  const some = waitsOf({ delayMs: 10 * HOUR_MS, hours: 400, ordersAnHour: 1, merchId: 2 })
  const one = { merchId: 3, orders: 1, waitMs: 30 * HOUR_MS, ageMs: 400 * HOUR_MS }
  const { delayMs, delayMsByMerchant: of, delayOrders } = fitDelays([...many, ...some, one])
  assert.equal(delayOrders, many.length + some.length + 1)
  assertNear(of[1] ?? 0, 2 * HOUR_MS, 0.05)
  assertNear(of[2] ?? 0, 10 * HOUR_MS, 0.15)
  assertNear(of[3] ?? 0, delayMs, 0.2)
  assert((of[3] ?? 0) > delayMs)
})

test('no single merchant has the readers of all others wait longer or shorter', () => {
  const others = [1, 2, 3].flatMap((merchId) =>
    waitsOf({ delayMs: 2 * HOUR_MS, hours: 400, ordersAnHour: 1, merchId }),
  )
  for (const waitMs of [0, 620 * HOUR_MS]) {
    const told = { merchId: 4, orders: 10_000, waitMs: 10_000 * waitMs, ageMs: 640 * HOUR_MS }
    const { delayMs, delayMsByMerchant: of } = fitDelays([...others, told])
    assertNear(delayMs, 2 * HOUR_MS, 0.1)
    assert(Math.abs(Math.log((of[4] ?? 0) / delayMs)) > 4, 'its own are as it told')
  }
})

test('nor has it the readers of few or many merchants that have told of an order or three each', () => {
  for (const [count, orders] of [
    [40, 1],
    [3, 3],
  ] as const) {
    const others = Array.from({ length: count }, (_, merchId) =>
      waitsOf({ delayMs: 2 * HOUR_MS, hours: 400, ordersAnHour: 1, merchId }).slice(-orders),
    ).flat()
    for (const waitMs of [0, 620 * HOUR_MS]) {
      const told = { merchId: 40, orders: 10_000, waitMs: 10_000 * waitMs, ageMs: 640 * HOUR_MS }
      assertNear(fitDelays([...others, told]).delayMs, fitDelays(others).delayMs, 0.5)
    }
  }
})

test('where two merchants differ, readers elsewhere are taken to wait between them', () => {
  const [one, other] = [2, 8].map((wait, merchId) =>
    waitsOf({ delayMs: wait * HOUR_MS, hours: 400, ordersAnHour: 1, merchId }),
  )
  const { delayMs } = fitDelays([...(one ?? []), ...(other ?? [])])
  assert(delayMs > 3 * HOUR_MS && delayMs < 6 * HOUR_MS, `${delayMs / HOUR_MS} hours`)
})

test('no wait is taken for less than a minute, or for more than two months', () => {
  const wait = { merchId: 1, orders: 1_000, ageMs: 2_400 * HOUR_MS }
  assertNear(fitDelays([{ ...wait, waitMs: 0 }]).delayMs, 60_000, 1e-9)
  const waitMs = 1_000 * 1_200 * HOUR_MS // As evenly as they come.
  assertNear(fitDelays([{ ...wait, waitMs }]).delayMs, 60 * DAY_MS, 1e-9)
})
