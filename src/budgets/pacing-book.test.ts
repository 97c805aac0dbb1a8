import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GrantedLease } from './lease-store.ts'
import { PACE_MIN } from './pacing.ts'
import { type PacedCampaign, PacingBook } from './pacing-book.ts'
import { HOURS_PER_WEEK } from './traffic-curve.ts'

const TEN = Date.parse('2026-04-13T10:00:00Z')
const MINUTE = 60_000
const BUDGET = 10e6
const CAMPAIGN: PacedCampaign = {
  campaignId: 1,
  index: 0,
  dailyBudgetMicros: BUDGET,
  priceMaxMicros: 10_000,
  hasRoasGoal: false,
  isAllowed: null,
}

const settled = (
  campaignId: number,
  daySettledMicros: number,
  day = '2026-04-13',
): GrantedLease => ({
  ...{ campaignId, day, daySettledMicros, leaseId: 1, grantedMicros: 0, fairMicros: 0 },
  ...{ refillableMicros: 0, inFlightElsewhereMicros: 0 },
})

const makeOutputs = () => ({ paceFactor: new Float32Array(3), roasFactor: new Float32Array(3) })

/** A publisher's clicks, all of them in some hours of each day. */
const hours = (isBusy: (hour: number) => boolean) =>
  Float64Array.from({ length: HOURS_PER_WEEK }, (_, hour) => (isBusy(hour % 24) ? 1e6 : 0))

/** A book in which campaign 1 has spent almost all of its day by ten in the morning. */
function makeThrottled() {
  const book = new PacingBook()
  const outputs = makeOutputs()
  book.setCampaigns([CAMPAIGN], outputs)
  book.step(TEN)
  book.noteSpent([settled(1, 0.9 * BUDGET)], TEN)
  book.step(TEN + MINUTE)
  assert.equal(outputs.paceFactor[0], Math.fround(PACE_MIN))
  return book
}

test('paces a campaign along the traffic of the publishers that it may appear with', () => {
  const traffic = new Map([
    [1, hours((hour) => hour < 10)],
    [2, hours((hour) => hour >= 20)],
  ])
  const campaigns = [
    { ...CAMPAIGN, isAllowed: (pubId: number) => pubId === 1 },
    { ...CAMPAIGN, campaignId: 2, index: 1, isAllowed: (pubId: number) => pubId === 2 },
    { ...CAMPAIGN, campaignId: 3, index: 2 },
  ]
  for (const isKnownBefore of [true, false]) {
    const book = new PacingBook()
    const outputs = makeOutputs()
    if (isKnownBefore) book.take({ traffic, multipliers: new Map() })
    book.setCampaigns(campaigns, outputs)
    if (!isKnownBefore) book.take({ traffic, multipliers: new Map() })
    book.step(TEN)
    // Seven tenths: too little where all traffic has come, too much where none has.
    book.noteSpent(
      [1, 2, 3].map((id) => settled(id, 0.7 * BUDGET)),
      TEN,
    )
    book.step(TEN + MINUTE)
    const [mornings, evenings, everywhere = 0] = [...outputs.paceFactor]
    assert.equal(mornings, 1)
    assert.equal(evenings, Math.fround(PACE_MIN))
    assert.ok(everywhere > PACE_MIN && everywhere < 1, '10 of the 14 busy hours have come')
  }
})

test('a curve learned at night applies from the next midnight on', () => {
  const learned = (isBusy: (hour: number) => boolean) => ({
    traffic: new Map([[1, hours(isBusy)]]),
    multipliers: new Map(),
  })
  const book = new PacingBook()
  const outputs = makeOutputs()
  book.take(learned((hour) => hour < 12))
  book.setCampaigns([CAMPAIGN], outputs)
  // Ten of the twelve busy hours are over; by the new curve none of the four.
  book.noteSpent([settled(1, 0.8 * BUDGET)], TEN)
  book.step(TEN)
  book.take(learned((hour) => hour >= 20))
  book.setCampaigns([CAMPAIGN], outputs)
  book.step(TEN + MINUTE)
  assert.equal(outputs.paceFactor[0], 1)
  const nextDay = TEN + 24 * 60 * MINUTE
  book.noteSpent([settled(1, 0.8 * BUDGET, '2026-04-14')], nextDay)
  book.step(nextDay)
  assert.equal(outputs.paceFactor[0], Math.fround(PACE_MIN))
})

test('a snapshot keeps the pacing state while the campaign has a daily budget', () => {
  const book = makeThrottled()
  const [same, other, again] = [makeOutputs(), makeOutputs(), makeOutputs()]
  book.setCampaigns([{ ...CAMPAIGN, index: 1 }], same)
  assert.deepEqual([...same.paceFactor], [0, Math.fround(PACE_MIN), 0])
  book.setCampaigns([{ ...CAMPAIGN, dailyBudgetMicros: null }], other)
  assert.equal(other.paceFactor[0], 1)
  book.setCampaigns([CAMPAIGN], again)
  assert.equal(again.paceFactor[0], 1, 'measured anew')
})

test('a campaign that left the snapshot writes to no other campaign’s place', () => {
  const book = makeThrottled()
  const outputs = makeOutputs()
  book.setCampaigns([{ ...CAMPAIGN, campaignId: 2, index: 1 }], outputs)
  book.step(TEN + 2 * MINUTE)
  assert.deepEqual([...outputs.paceFactor], [0, 1, 0])
})

test('ignores the spending of another day or campaign', () => {
  const book = new PacingBook()
  const outputs = makeOutputs()
  book.setCampaigns([CAMPAIGN], outputs)
  book.step(TEN)
  book.noteSpent([settled(9, BUDGET), settled(1, BUDGET, '2026-04-12')], TEN)
  book.step(TEN + MINUTE)
  assert.equal(outputs.paceFactor[0], 1)
  // The last answers before midnight contain both days.
  book.noteSpent([settled(1, BUDGET), settled(1, 0, '2026-04-14')], TEN + MINUTE)
  book.step(TEN + 2 * MINUTE)
  assert.equal(outputs.paceFactor[0], Math.fround(PACE_MIN))
  // At midnight the spending so far belongs to yesterday.
  const throttled = makeThrottled()
  throttled.setCampaigns([CAMPAIGN], outputs)
  throttled.step(TEN + 15 * 60 * MINUTE)
  assert.ok((outputs.paceFactor[0] ?? 0) > 2 * PACE_MIN)
})

test('a goal without a multiplier leaves the configured bid', () => {
  const book = new PacingBook()
  const outputs = makeOutputs()
  book.setCampaigns([{ ...CAMPAIGN, hasRoasGoal: true }], outputs)
  assert.deepEqual([outputs.paceFactor[0], outputs.roasFactor[0]], [1, 1])
})

test('a clock set back does not stop pacing', () => {
  const book = makeThrottled()
  const outputs = makeOutputs()
  book.setCampaigns([CAMPAIGN], outputs)
  book.noteSpent([settled(1, 0)], TEN - 60 * MINUTE)
  book.step(TEN - 60 * MINUTE)
  assert.ok((outputs.paceFactor[0] ?? 0) > 10 * PACE_MIN)
})

test('a snapshot between two measurements keeps the spending', () => {
  const book = new PacingBook()
  const outputs = makeOutputs()
  book.setCampaigns([CAMPAIGN], outputs)
  book.step(TEN)
  book.noteSpent([settled(1, 0.9 * BUDGET)], TEN)
  book.setCampaigns([CAMPAIGN], outputs)
  book.step(TEN + MINUTE)
  assert.equal(outputs.paceFactor[0], Math.fround(PACE_MIN))
})
