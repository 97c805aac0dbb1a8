import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import {
  addEvidence,
  clickEvidence,
  type Evidence,
  evidenceAt,
  HALF_LIVES,
  type HalfLife,
  negativeEvidence,
  noEvidence,
  orderEvidence,
  ripeClicks,
  shareWaiting,
  WAITS_MS,
  wholeClicks,
} from './evidence.ts'

const DAY = 86_400_000
const halfLife = fc.constantFrom(...HALF_LIVES)
/** All orders come by the exponential of this part. */
const only = (part: number) => WAITS_MS.map((_, index) => Number(index === part))
const numbersOf = ({ unripe, ...sums }: Evidence): [string, number][] => [
  ...Object.entries(sums),
  ...unripe.map((count, part): [string, number] => [`unripe ${part}`, count]),
]

function assertAlike(got: Evidence, wanted: Evidence, slack: number): void {
  const expected = new Map(numbersOf(wanted))
  for (const [name, value] of numbersOf(got)) {
    const right = expected.get(name) ?? Number.NaN
    assert(Math.abs(value - right) <= slack * Math.max(1, Math.abs(right)), `${name}: ${value}`)
  }
}

test('decaying in two steps equals decaying in one (P32)', () => {
  const span = fc.integer({ min: 0, max: 200 * DAY })
  fc.assert(
    fc.property(span, span, halfLife, (first, second, of) => {
      const start = addEvidence(clickEvidence(0, { isValid: true }), orderAt(0), of)
      const once = evidenceAt(start, first + second, of)
      assertAlike(evidenceAt(evidenceAt(start, first, of), first + second, of), once, 1e-12)
    }),
  )
})

test('counts halve in a half-life, unripe clicks as well as their orders come', () => {
  for (const of of HALF_LIVES) {
    const start = {
      ...{ clicks: 8, squaredClicks: 8, unripe: WAITS_MS.map(() => 4), invalid: 2, orders: 16 },
      ...{ value: 20, logValue: 10, logValueSquare: 12, atMs: 0 },
    }
    const later = {
      ...{ clicks: 4, squaredClicks: 2, invalid: 1, orders: 8 },
      ...{ value: 10, logValue: 5, logValueSquare: 6, atMs: of * DAY },
      unripe: WAITS_MS.map((waitMs) => 2 * Math.exp((-of * DAY) / waitMs)),
    }
    assertAlike(evidenceAt(start, of * DAY, of), later, 1e-12)
  }
})

test('decayed clicks vary like a larger number of whole ones', () => {
  // Half of them a half-life ago: 30 + 15 clicks, and squares of 30 + 7.5.
  const old = evidenceAt({ ...noEvidence(0), clicks: 30, squaredClicks: 30 }, 10 * DAY, 10)
  const fresh = { ...noEvidence(10 * DAY), clicks: 30, squaredClicks: 30 }
  assert.equal(wholeClicks(fresh), 1)
  assert.equal(wholeClicks(addEvidence(old, fresh, 10)), 45 / 37.5)
  assert.equal(wholeClicks(noEvidence(0)), 1)
})

test('a click counts once, as valid and still unripe or as invalid', () => {
  const none = noEvidence(DAY)
  assert.deepEqual(clickEvidence(DAY, { isValid: true }), {
    ...none,
    ...{ clicks: 1, squaredClicks: 1, unripe: WAITS_MS.map(() => 1) },
  })
  assert.deepEqual(clickEvidence(DAY, { isValid: false }), { ...none, invalid: 1 })
})

test('evidence of a clock that was years ahead stays usable', () => {
  const ahead = addEvidence(
    clickEvidence(0, { isValid: true }),
    clickEvidence(800 * DAY, { isValid: true }),
    10,
  )
  const seen = evidenceAt(ahead, DAY, 10)
  for (const [name, count] of numbersOf(seen)) assert.ok(Number.isFinite(count), name)
  assert.ok(ripeClicks(seen, only(0)) >= 0)
})

test('a sum is as of the later instant, in either order', () => {
  const [early, late] = [
    clickEvidence(0, { isValid: true }),
    clickEvidence(10 * DAY, { isValid: true }),
  ]
  const unripe = WAITS_MS.map((waitMs) => 1 + 0.5 * Math.exp((-10 * DAY) / waitMs))
  const sum = { ...noEvidence(10 * DAY), clicks: 1.5, squaredClicks: 1.25, unripe }
  assert.deepEqual(addEvidence(early, late, 10), sum)
  assert.deepEqual(addEvidence(late, early, 10), sum)
})

test('adding up shards equals counting together (P34)', () => {
  const happening = fc.record({
    atMs: fc.integer({ min: 0, max: 60 * DAY }),
    kind: fc.constantFrom('order', 'click', 'invalid'),
    shard: fc.nat(2),
  })
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), halfLife, (all, of) => {
      const count = (some: typeof all) =>
        some
          .map(({ atMs, kind }) =>
            kind === 'order' ? orderAt(atMs) : clickEvidence(atMs, { isValid: kind === 'click' }),
          )
          .reduce((held, one) => addEvidence(held, one, of), noEvidence(0))
      const end = 61 * DAY
      const together = evidenceAt(count(all), end, of)
      const shards = [0, 1, 2].map((shard) => count(all.filter((one) => one.shard === shard)))
      const added = evidenceAt(
        shards.reduce((held, one) => addEvidence(held, one, of)),
        end,
        of,
      )
      assertAlike(added, together, 1e-9)
    }),
  )
})

function orderAt(atMs: number): Evidence {
  return orderEvidence(atMs - 3_600_000, 50e6)
}

test('a fresh click carries no evidence about orders, an old one all of it', () => {
  const click = clickEvidence(0, { isValid: true })
  const curve = WAITS_MS.map(() => 1 / WAITS_MS.length)
  assert(Math.abs(ripeClicks(click, curve)) < 1e-12)
  const waited = evidenceAt(click, DAY, 10)
  const ripe = 1 - shareWaiting(curve, DAY)
  assert(Math.abs(ripeClicks(waited, curve) / waited.clicks - ripe) < 1e-12)
  assert.equal(ripeClicks(clickEvidence(0, { isValid: false }), curve), 0)
})

test('orders per ripe click equal the true rate, whatever the delay', () => {
  for (const [part, waitMs] of WAITS_MS.entries()) {
    const of: HalfLife = 40
    const until = 150 * DAY
    let held = noEvidence(0)
    for (let hour = 0; hour < 150 * 24; hour++) {
      const clickAtMs = hour * (DAY / 24)
      held = addEvidence(held, clickEvidence(clickAtMs, { isValid: true }), of)
      // Delays of an exponential, evenly spread over its quantiles.
      const orderAtMs = clickAtMs - waitMs * Math.log(1 - ((hour * 0.6180339887) % 1))
      if (orderAtMs > until) continue
      held = addEvidence(held, orderEvidence(clickAtMs, 50e6), of)
    }
    const seen = evidenceAt(held, until, of)
    const rate = seen.orders / ripeClicks(seen, only(part))
    assert(Math.abs(rate - 1) < 0.02, `${rate} orders a click after waits of ${waitMs / DAY} days`)
  }
})

test('stores an order as the logarithm of its value and its square', () => {
  const order = orderEvidence(1_000, 50e6)
  const log = Math.log(50e6)
  assert.deepEqual(order, {
    ...noEvidence(1_000),
    ...{ orders: 1, value: 50e6, logValue: log, logValueSquare: log * log },
  })
  assert.equal(orderEvidence(1_000, 0).logValue, 0, 'a gift has no logarithm')
  assert.deepEqual(addEvidence(order, negativeEvidence(order), 10), noEvidence(1_000))
})
