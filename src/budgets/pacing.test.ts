import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { evenly } from '../../test/support/uniform-numbers.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { newPacer, PACE_MIN, paceFactor, stepPacer } from './pacing.ts'
import { PacingBook } from './pacing-book.ts'
import {
  campaignShape,
  HOURS_PER_WEEK,
  hourOfWeek,
  shareOfDay,
  shrinkShape,
} from './traffic-curve.ts'

const NOTHING_ELSEWHERE = { refillableMicros: 0, inFlightElsewhereMicros: 0 }
const unit = evenly(0, 1)
const money = fc.integer({ min: 0, max: 1e10 })
const measure = fc.record({
  budgetMicros: fc.integer({ min: 1, max: 1e10 }),
  spentMicros: money,
  share: unit,
  priceMaxMicros: fc.integer({ min: 1, max: 1e6 }),
})

test('the factor stays in [.01, 1] at any measurement (P24)', () => {
  fc.assert(
    fc.property(fc.array(measure, { minLength: 1, maxLength: 50 }), (measures) => {
      let pacer = measures[0] === undefined ? null : newPacer(measures[0])
      for (const next of measures) {
        if (pacer === null) return
        pacer = stepPacer(pacer, next)
        assert(pacer.factor >= PACE_MIN && pacer.factor <= 1, String(pacer.factor))
      }
    }),
  )
})

test('the more is unspent, the higher the bid (P24)', () => {
  fc.assert(
    fc.property(measure, money, money, (at, less, demand) => {
      const spentLess = { ...at, spentMicros: Math.min(at.spentMicros, less) }
      assert(paceFactor(spentLess, demand) >= paceFactor(at, demand))
    }),
  )
})

test('the more demand there is, the lower the bid', () => {
  fc.assert(
    fc.property(measure, money, money, (at, one, other) => {
      const [less, more] = [Math.min(one, other), Math.max(one, other)]
      assert(paceFactor(at, less) >= paceFactor(at, more))
    }),
  )
})

test('a campaign without demand offers its whole bid', () => {
  const at = { budgetMicros: 1e6, spentMicros: 1e7, share: 0.001, priceMaxMicros: 100_000 }
  assert.equal(paceFactor(at, 0), 1)
})

test('a campaign ahead of its curve stays at the minimum', () => {
  const at = { budgetMicros: 100e6, spentMicros: 60e6, share: 0.5, priceMaxMicros: 100_000 }
  assert.equal(paceFactor(at, 300e6), PACE_MIN)
})

test('a new campaign starts with its whole bid', () => {
  const at = { budgetMicros: 100e6, spentMicros: 0, share: 0.4, priceMaxMicros: 100_000 }
  assert.equal(newPacer(at).factor, 1)
})

const near = (value: number, wanted: number) =>
  assert(Math.abs(value / wanted - 1) < 1e-12, `${value} is not ${wanted}`)

test('a minute moves the factor by the formulas of the specification, worked out by hand', () => {
  const at = { budgetMicros: 100e6, spentMicros: 48.3e6, share: 0.502, priceMaxMicros: 100_000 }
  const before = { factor: 0.5, spentMicros: 48e6, share: 0.5 }
  const after = stepPacer({ ...before, spendMicros: 4e6, exposure: 0.02 }, at)
  near(after.spendMicros, 0.94 * 4e6 + 300_000)
  near(after.exposure, 0.94 * 0.02 + 0.002 * 0.5 ** 2.5)
  // need = ($53.20 - $48.30) / .03, of a demand of spend / exposure.
  near(after.factor ** 2.5, 4.9e6 / 0.03 / (after.spendMicros / after.exposure))
  assert.deepEqual([after.spentMicros, after.share], [48.3e6, 0.502])
  const made = newPacer(at)
  near(made.spendMicros / made.exposure, 100e6)
  near(made.spendMicros, 200_000)
})

test('a budget of few clicks looks further ahead and learns more slowly', () => {
  const at = { budgetMicros: 10e6, spentMicros: 5e6, share: 0.5, priceMaxMicros: 500_000 }
  near(paceFactor(at, 40e6) ** 2.5, 0.25) // It aims 1.5 of its 20 clicks ahead.
  const before = { ...newPacer(at), spendMicros: 5e6, exposure: 0.5 }
  near(stepPacer(before, at).exposure, 0.5 * (1 - 20 / 14_400))
})

test('spreads the rest of the budget over the rest of the day', () => {
  const at = { budgetMicros: 100e6, priceMaxMicros: 100_000 }
  const part = (spentMicros: number, share: number, demand: number) =>
    Number((paceFactor({ ...at, spentMicros, share }, demand) ** 2.5).toFixed(9))
  assert.equal(part(99e6, 0.99, 200e6), 0.5)
  assert.equal(part(99.9e6, 0.9999, 288e6), 0.5, 'the last minute has the least')
})

test('midnight resets the spending and keeps the learned demand', () => {
  const at = { budgetMicros: 100e6, spentMicros: 99e6, share: 0.999, priceMaxMicros: 10_000 }
  const before = { ...newPacer(at), spendMicros: 9e6, exposure: 0.03 }
  const after = stepPacer(before, { ...at, spentMicros: 300_000, share: 0.001 })
  near(after.spendMicros, 0.94 * 9e6 + 300_000)
  near(after.exposure, 0.94 * 0.03 + 0.001)
  assert.equal(after.spentMicros, 300_000)
})

test('late clicks from before a lowered bid do not silence a campaign for long', () => {
  const at = { budgetMicros: 100e6, priceMaxMicros: 100_000, share: 0.5 }
  let pacer = { ...newPacer({ ...at, spentMicros: 55e6 }), spendMicros: 4e6, exposure: 0.015 }
  for (let minute = 1; minute <= 10; minute++) {
    pacer = stepPacer(pacer, { ...at, spentMicros: 55e6 + minute * 200_000, share: 0.5 })
    assert.equal(pacer.factor, PACE_MIN)
  }
  pacer = stepPacer(pacer, { ...at, spentMicros: 57e6, share: 0.57 })
  assert(pacer.factor > 0.3, String(pacer.factor))
})

test('hours of the week count from Monday midnight UTC', () => {
  assert.equal(hourOfWeek(Date.parse('2026-04-13T00:00:00Z')), 0) // a Monday
  assert.equal(hourOfWeek(Date.parse('2026-04-19T23:59:59Z')), 167)
})

test('spends each day along the hours of its own weekday', () => {
  // All of Monday's readers come in its first hour, all of Tuesday's in its second, and so on.
  const week = new Float64Array(HOURS_PER_WEEK)
  for (let weekday = 0; weekday < 7; weekday++) week[25 * weekday] = 1
  for (let weekday = 0; weekday < 7; weekday++) {
    const midnight = Date.parse('2026-04-13') + weekday * DAY_MS // first a Monday's
    const at = (hour: number) => shareOfDay(week, midnight + hour * HOUR_MS)
    assert.deepEqual([weekday, weekday + 0.5, weekday + 1].map(at), [0, 0.5, 1])
  }
})

test('the curve runs from 0 to 1 over each UTC day and never back', () => {
  const hours = fc.array(fc.nat(1_000), { minLength: HOURS_PER_WEEK, maxLength: HOURS_PER_WEEK })
  const day = fc.integer({ min: 20_000, max: 30_000 })
  const withinDay = fc.integer({ min: 0, max: 86_399_999 })
  fc.assert(
    fc.property(hours, day, withinDay, withinDay, (counts, dayNumber, left, right) => {
      const shape = shrinkShape(Float64Array.from(counts), null)
      const at = (ms: number) => shareOfDay(shape, dayNumber * DAY_MS + ms)
      assert.equal(at(0), 0)
      assert(at(86_399_999) > 0.999)
      assert(at(Math.min(left, right)) <= at(Math.max(left, right)))
    }),
  )
})

test('a flat day has a straight curve, and a publisher of few clicks follows the network', () => {
  const noon = Date.parse('2026-04-13T12:00:00Z')
  const nothing = new Float64Array(HOURS_PER_WEEK)
  assert(
    Math.abs(
      shareOfDay(
        campaignShape(new Map(), () => true),
        noon,
      ) - 0.5,
    ) < 1e-12,
  )

  const mornings = nothing.map((_, hour) => (hour % 24 < 12 ? 10_000 : 0))
  const evenings = nothing.map((_, hour) => (hour % 24 < 12 ? 0 : 1))
  const publishers = new Map([
    [1, mornings],
    [2, evenings],
  ])
  const shape = campaignShape(publishers, (pubId) => pubId === 2)
  assert(shareOfDay(shape, noon) > 0.7, String(shareOfDay(shape, noon)))
  // Nobody ever clicked in the evening, and still it may happen.
  const unseen = campaignShape(new Map([[1, mornings]]), () => true)
  assert(unseen.every((weight) => weight > 0))
})

test('a curve runs within its hours, an empty day is flat, and 500 clicks weigh half against a shape', () => {
  const at = (time: string) => Date.parse(`2026-04-13T${time}Z`) // a Monday
  const monday = new Float64Array(HOURS_PER_WEEK)
  monday[10] = 3
  monday[12] = 1
  assert.equal(shareOfDay(monday, at('10:20:00')), 0.25)
  assert.equal(shareOfDay(monday, at('11:59:59')), 0.75)
  assert.equal(shareOfDay(monday, at('12:30:00')), 0.875)
  assert.equal(shareOfDay(new Float64Array(HOURS_PER_WEEK), at('06:00:00')), 0.25)
  const drawn = shrinkShape(monday, monday)
  assert.deepEqual([drawn[9], drawn[10], drawn[12]], [0, 3 + 375, 1 + 125])
  for (const wider of [null, new Float64Array(HOURS_PER_WEEK)]) {
    const [nine = 0, ten = 0] = shrinkShape(monday, wider).subarray(9, 11)
    assert(Math.abs(nine - 500 / 168) < 1e-12 && Math.abs(ten - 3 - 500 / 168) < 1e-12)
  }
})

test('the book paces daily budgets only, and once a minute', () => {
  const paceFactor = new Float32Array(2)
  const roasFactor = new Float32Array(2)
  const book = new PacingBook()
  const base = { priceMaxMicros: 10_000, hasRoasGoal: false, isAllowed: null }
  book.setCampaigns(
    [
      { ...base, campaignId: 1, index: 0, dailyBudgetMicros: 10e6 },
      { ...base, campaignId: 2, index: 1, dailyBudgetMicros: null },
    ],
    { paceFactor, roasFactor },
  )
  assert.deepEqual([...paceFactor], [1, 1])
  const start = Date.parse('2026-04-13T01:00:00Z')
  book.step(start)
  const spend = (settled: number, nowMs: number) => {
    const lease = {
      leaseId: 1,
      grantedMicros: 0,
      fairMicros: 0,
      daySettledMicros: settled,
      ...NOTHING_ELSEWHERE,
    }
    book.noteSpent(
      [1, 2].map((campaignId) => ({ ...lease, campaignId, day: '2026-04-13' })),
      nowMs,
    )
    book.step(nowMs)
  }
  spend(9e6, start + 30_000)
  assert.equal(paceFactor[0], 1)
  spend(9e6, start + 60_000) // Nine tenths of the day's budget by one in the morning.
  assert(Math.abs((paceFactor[0] ?? 0) - PACE_MIN) < 1e-6)
  assert.equal(paceFactor[1], 1)
})

test('a goal and pacing lower the bid independently: the auction uses the lower one', () => {
  const paceFactor = new Float32Array(1)
  const roasFactor = new Float32Array(1)
  const book = new PacingBook()
  const campaign = { campaignId: 1, index: 0, dailyBudgetMicros: 1e6, priceMaxMicros: 1_000 }
  book.setCampaigns([{ ...campaign, hasRoasGoal: true, isAllowed: null }], {
    paceFactor,
    roasFactor,
  })
  book.take({ traffic: new Map(), multipliers: new Map([[1, 0.5]]) })
  assert.deepEqual([paceFactor[0], roasFactor[0]], [1, 0.5])
  book.setCampaigns([{ ...campaign, hasRoasGoal: false, isAllowed: null }], {
    paceFactor,
    roasFactor,
  })
  assert.deepEqual([paceFactor[0], roasFactor[0]], [1, 1])
})
