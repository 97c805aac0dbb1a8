import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/fast-check.ts'
import {
  addEvidence,
  clickEvidence,
  type Evidence,
  evidenceAt,
  negativeEvidence,
  noEvidence,
  orderEvidence,
  ripeClicks,
} from './evidence.ts'

const DAY = 86_400_000

test('decaying in two steps is decaying in one (P32)', () => {
  const span = fc.integer({ min: 0, max: 200 * DAY })
  fc.assert(
    fc.property(
      span,
      span,
      fc.integer({ min: 60_000, max: 30 * DAY }),
      (first, second, delayMs) => {
        const start = addEvidence(clickEvidence(0, { isValid: true }), orderAt(0), delayMs)
        const once = evidenceAt(start, first + second, delayMs)
        const twice = evidenceAt(evidenceAt(start, first, delayMs), first + second, delayMs)
        for (const key of Object.keys(once) as (keyof Evidence)[]) {
          assert(Math.abs(once[key] - twice[key]) <= 1e-12 * Math.max(1, Math.abs(once[key])), key)
        }
      },
    ),
  )
})

test('counts halve in fourteen days, unripe clicks as well as their orders come', () => {
  const start = {
    ...{ clicks: 8, unripe: 4, invalid: 2, orders: 16, logValue: 10 },
    ...{ logValueSquare: 12, atMs: 0 },
  }
  const later = evidenceAt(start, 14 * DAY, 7 * DAY)
  assert.deepEqual(
    { ...later, unripe: 0 },
    {
      ...{ clicks: 4, unripe: 0, invalid: 1, orders: 8, logValue: 5 },
      ...{ logValueSquare: 6, atMs: 14 * DAY },
    },
  )
  assert(Math.abs(later.unripe - 2 * Math.exp(-2)) < 1e-12)
})

test('a click counts once, as valid and still unripe or as invalid', () => {
  const none = noEvidence(DAY)
  assert.deepEqual(clickEvidence(DAY, { isValid: true }), { ...none, clicks: 1, unripe: 1 })
  assert.deepEqual(clickEvidence(DAY, { isValid: false }), { ...none, invalid: 1 })
})

test('evidence of a clock that was years ahead is still evidence', () => {
  const ahead = addEvidence(
    clickEvidence(0, { isValid: true }),
    clickEvidence(800 * DAY, { isValid: true }),
    DAY / 24,
  )
  const seen = evidenceAt(ahead, DAY, DAY / 24)
  for (const [name, count] of Object.entries(seen)) assert.ok(Number.isFinite(count), name)
  assert.ok(ripeClicks(seen) >= 0)
})

test('what is added up is as of the later instant, whichever comes first', () => {
  const [early, late] = [
    clickEvidence(0, { isValid: true }),
    clickEvidence(14 * DAY, { isValid: true }),
  ]
  const sum = { ...noEvidence(14 * DAY), clicks: 1.5, unripe: 1 + 0.5 * Math.exp(-2) }
  assert.deepEqual(addEvidence(early, late, 7 * DAY), sum)
  assert.deepEqual(addEvidence(late, early, 7 * DAY), sum)
})

test('counting in shards and adding them up is counting together (P34)', () => {
  const happening = fc.record({
    atMs: fc.integer({ min: 0, max: 60 * DAY }),
    kind: fc.constantFrom('order', 'click', 'invalid'),
    shard: fc.nat(2),
  })
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (all) => {
      const count = (some: typeof all) =>
        some
          .map(({ atMs, kind }) =>
            kind === 'order' ? orderAt(atMs) : clickEvidence(atMs, { isValid: kind === 'click' }),
          )
          .reduce((held, one) => addEvidence(held, one, DAY), noEvidence(0))
      const end = 61 * DAY
      const together = evidenceAt(count(all), end, DAY)
      const shards = [0, 1, 2].map((shard) => count(all.filter((one) => one.shard === shard)))
      const added = evidenceAt(
        shards.reduce((held, one) => addEvidence(held, one, DAY)),
        end,
        DAY,
      )
      for (const key of Object.keys(together) as (keyof Evidence)[]) {
        assert(Math.abs(together[key] - added[key]) <= 1e-9 * Math.max(1, together[key]), key)
      }
    }),
  )
})

function orderAt(atMs: number): Evidence {
  return orderEvidence(atMs - 3_600_000, 50e6)
}

test('a fresh click says nothing about orders yet, an old one all it ever will', () => {
  const click = clickEvidence(0, { isValid: true })
  assert.equal(ripeClicks(click), 0)
  const waited = evidenceAt(click, DAY, DAY)
  assert(Math.abs(ripeClicks(waited) / waited.clicks - (1 - Math.exp(-1))) < 1e-12)
  assert.equal(ripeClicks(clickEvidence(0, { isValid: false })), 0)
})

test('orders are to ripe clicks as readers order, however long they wait', () => {
  for (const waitMs of [DAY / 24, DAY, 3 * DAY, 5 * DAY]) {
    const until = 150 * DAY
    let held = noEvidence(0)
    for (let hour = 0; hour < 150 * 24; hour++) {
      const clickAtMs = hour * (DAY / 24)
      held = addEvidence(held, clickEvidence(clickAtMs, { isValid: true }), waitMs)
      // Waits as an exponential has them, evenly spread over its quantiles.
      const orderAtMs = clickAtMs - waitMs * Math.log(1 - ((hour * 0.6180339887) % 1))
      if (orderAtMs > until) continue
      held = addEvidence(held, orderEvidence(clickAtMs, 50e6), waitMs)
    }
    const seen = evidenceAt(held, until, waitMs)
    const rate = seen.orders / ripeClicks(seen)
    assert(Math.abs(rate - 1) < 0.02, `${rate} orders a click after waits of ${waitMs / DAY} days`)
  }
})

test('an order is known by the logarithm of its value, whose square is summed too', () => {
  const order = orderEvidence(1_000, 50e6)
  const log = Math.log(50e6)
  assert.deepEqual(order, {
    ...noEvidence(1_000),
    ...{ orders: 1, logValue: log, logValueSquare: log * log },
  })
  assert.equal(orderEvidence(1_000, 0).logValue, 0, 'a gift has no logarithm')
  assert.deepEqual(addEvidence(order, negativeEvidence(order), DAY), noEvidence(1_000))
})
