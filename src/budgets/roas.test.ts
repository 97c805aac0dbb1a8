/** The multiplier of a ROAS goal: one hour's step. roas-goals.test.ts runs weeks of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { evenly } from '../../test/support/uniform-numbers.ts'
import {
  clickValue,
  ROAS_MULTIPLIER_MAX,
  ROAS_MULTIPLIER_MIN,
  ROAS_SPANS,
  type RoasMeasure,
  type RoasSpan,
  roasBid,
  roasPrice,
  stepRoasMultiplier,
} from './roas.ts'

const money = fc.integer({ min: 0, max: 1e10 })
const span = fc
  .record({
    clicks: fc.integer({ min: 0, max: 100_000 }),
    ripe: evenly(0, 1),
    spendMicros: fc.integer({ min: 0, max: 1e12 }),
    orders: fc.integer({ min: 0, max: 10_000 }),
    orderMicros: fc.integer({ min: 1, max: 1e10 }),
  })
  .map(
    ({ clicks, ripe, spendMicros, orders, orderMicros }): RoasSpan => ({
      ...{ clicks, ripeClicks: ripe * clicks, spendMicros, orders },
      valueMicros: orders * orderMicros,
    }),
  )
const measure: fc.Arbitrary<RoasMeasure> = fc.record({
  goal: evenly(0.01, 100),
  spans: fc.array(span, { minLength: 1, maxLength: ROAS_SPANS }),
  squaredValue: evenly(0, 1e24),
  lastHour: fc.record({ clicks: fc.integer({ min: 0, max: 10_000 }), spendMicros: money }),
  forecast: fc.record({ ordersPerClick: evenly(1e-6, 1), orderMicros: evenly(1, 1e10) }),
})
const multiplier = evenly(ROAS_MULTIPLIER_MIN, ROAS_MULTIPLIER_MAX)

/** Two weeks of 400 clicks a day at $0.50 that bring an order of $100 each fiftieth time. */
const DAILY = { clicks: 100, ripeClicks: 100, spendMicros: 50e6, orders: 2, valueMicros: 200e6 }
const STEADY: RoasMeasure = {
  goal: 4,
  spans: Array.from({ length: ROAS_SPANS }, () => DAILY),
  squaredValue: ROAS_SPANS * 2 * 1e16,
  lastHour: { clicks: 100, spendMicros: 50e6 },
  forecast: { ordersPerClick: 0.02, orderMicros: 100e6 },
}
const isNear = (one: number, other: number, error = 0.02) => Math.abs(one / other - 1) < error

test('the multiplier stays within [0.2, 5] and moves by e^0.5 an hour at most', () => {
  fc.assert(
    fc.property(multiplier, measure, (before, measured) => {
      const after = stepRoasMultiplier(before, measured)
      assert(after >= ROAS_MULTIPLIER_MIN && after <= ROAS_MULTIPLIER_MAX, String(after))
      assert(Math.abs(Math.log(after / before)) <= 0.5 + 1e-12)
    }),
  )
})

test('a higher price of the last hour never leads to a higher multiplier', () => {
  fc.assert(
    fc.property(multiplier, measure, money, (before, measured, more) => {
      const { clicks, spendMicros } = measured.lastHour
      const expensive = { ...measured, lastHour: { clicks, spendMicros: spendMicros + more } }
      assert(stepRoasMultiplier(before, expensive) <= stepRoasMultiplier(before, measured))
    }),
  )
})

test('the multiplier does not depend on the unit of money', () => {
  fc.assert(
    fc.property(multiplier, measure, evenly(0.1, 10), (before, measured, unit) => {
      const scaled: RoasMeasure = {
        ...measured,
        spans: measured.spans.map((of) => ({
          ...of,
          spendMicros: unit * of.spendMicros,
          valueMicros: unit * of.valueMicros,
        })),
        squaredValue: unit ** 2 * measured.squaredValue,
        lastHour: {
          clicks: measured.lastHour.clicks,
          spendMicros: unit * measured.lastHour.spendMicros,
        },
        forecast: { ...measured.forecast, orderMicros: unit * measured.forecast.orderMicros },
      }
      const [one, other] = [measured, scaled].map((of) => stepRoasMultiplier(before, of))
      assert(isNear(one ?? 0, other ?? 1, 1e-6), `${one} ${other}`)
    }),
  )
})

test('a click may cost its value over the goal while the goal is met', () => {
  assert(isNear(roasPrice(STEADY), 0.5e6, 0.03), String(roasPrice(STEADY)))
  assert(isNear(stepRoasMultiplier(1.7, STEADY), 1.7, 0.03))
})

test('a deficit lowers the price by a quarter at most, a surplus raises it by 5 %', () => {
  const spent = (factor: number) =>
    roasPrice({
      ...STEADY,
      spans: STEADY.spans.map((of) => ({ ...of, spendMicros: factor * of.spendMicros })),
    })
  const { valueMicros, doubt } = clickValue(STEADY)
  const price = (valueMicros * (1 - Math.max(0, doubt - 0.02))) / STEADY.goal
  assert(isNear(spent(100), 0.75 * price, 1e-9))
  assert(spent(0.01) > 1.04 * price && spent(0.01) <= 1.05 * price)
  assert(spent(1.05) < spent(1))
})

test('the price stays within those bounds whatever was measured', () => {
  fc.assert(
    fc.property(measure, (measured) => {
      const { valueMicros, doubt } = clickValue(measured)
      assert(doubt >= 0 && doubt <= 1 / 2)
      const price = (valueMicros * (1 - Math.max(0, doubt - 0.02))) / measured.goal
      assert(price > 0 && Number.isFinite(price))
      const allowed = roasPrice(measured)
      assert(allowed >= price * (0.75 - 1e-9) && allowed <= price * (1.05 + 1e-9))
    }),
  )
})

test('clicks whose orders are still to come say nothing yet', () => {
  const unripe = STEADY.spans.map((of, at) =>
    at < ROAS_SPANS - 2 ? of : { ...of, ripeClicks: 0, orders: 0, valueMicros: 0 },
  )
  assert(isNear(roasPrice({ ...STEADY, spans: unripe }), roasPrice(STEADY)))
})

test('one order of $10 million among a hundred of $100 raises the value of a click by less than 60 %', () => {
  const spans = STEADY.spans.with(-1, { ...DAILY, orders: 3, valueMicros: 200e6 + 1e13 })
  const squaredValue = STEADY.squaredValue + 1e26
  const { valueMicros } = clickValue({ ...STEADY, spans, squaredValue })
  assert(valueMicros < 1.6 * clickValue(STEADY).valueMicros, String(valueMicros))
})

test('a new campaign trusts its forecast', () => {
  const none = { clicks: 0, ripeClicks: 0, spendMicros: 0, orders: 0, valueMicros: 0 }
  const spans = STEADY.spans.map(() => none)
  assert(isNear(roasPrice({ ...STEADY, spans, squaredValue: 0 }), 0.5e6, 0.06))
})

test('without clicks half of the distance from 1 is forgotten in a week', () => {
  const silent = { ...STEADY, lastHour: { clicks: 0, spendMicros: 0 } }
  const afterAWeek = (before: number) => {
    let after = before
    for (let hour = 0; hour < 7 * 24; hour++) after = stepRoasMultiplier(after, silent)
    return after
  }
  assert(isNear(afterAWeek(0.2), 0.6, 1e-9))
  assert(isNear(afterAWeek(3), 2, 1e-9))
})

test('the bid under a goal is a whole number of micros and never above the typed one', () => {
  fc.assert(
    fc.property(money, multiplier, money, (bid, by, valuePerClick) => {
      const effective = roasBid(bid, valuePerClick / 3.7, by)
      assert(Number.isSafeInteger(effective) && effective >= 0 && effective <= bid)
    }),
  )
  assert.equal(roasBid(600_000, 1_200_000 / 4, 0.5), 150_000)
  assert.equal(roasBid(600_000, 1_200_000 / 4, 1.5), 450_000)
  // Rounded down: a micro more would miss the goal.
  assert.equal(roasBid(600_000, 1_200_007 / 4, 0.5), 150_000)
  assert.equal(roasBid(600_000, Infinity, 0.5), 600_000, 'without a goal')
})
