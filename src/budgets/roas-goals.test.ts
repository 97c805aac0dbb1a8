/**
 * Are ROAS goals met on average? Simulated campaigns whose truth is known; bench/roas.ts runs more
 * markets and sizes. The goals are those of docs/spec/budgets.md#roas-goals.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROAS_WORLD, type RoasDay, returnOf, runRoasWorld } from '../../test/support/roas-world.ts'
import { sized } from '../../test/support/soak.ts'

const SEED = 1
const SEEDS = Array.from({ length: sized(3, { soak: 20 }) }, (_, index) => SEED + index)
const HALVED_ON = 30
const halved = (day: number) => (day < HALVED_ON ? 1 : 1 / 2)
const runs = SEEDS.map((seed) => ({
  seed,
  days: runRoasWorld({ ...ROAS_WORLD, rateOn: halved }, seed),
}))

/** Return over goal of each 14 days in a row. */
function fortnights(days: readonly RoasDay[], { from, to }: { from: number; to: number }) {
  return Array.from({ length: to - from - 13 }, (_, at) =>
    returnOf(days, { first: from + at, length: 14 }),
  )
}

test('the return is within 5 % of its goal after a week of steady traffic', () => {
  for (const { seed, days } of runs) {
    for (const ratio of fortnights(days, { from: 7, to: HALVED_ON })) {
      assert(ratio > 0.95 && ratio < 1.05, `seed ${seed}: ${ratio}`)
    }
  }
})

test('the return is back at its goal five days after the order rate halved', () => {
  for (const { seed, days } of runs) {
    const ratio = returnOf(days, { first: HALVED_ON + 5, length: 3 })
    assert(ratio > 0.95, `seed ${seed}: ${ratio}`)
  }
})

test('the return is never more than 10 % below its goal over any 14 days', () => {
  for (const { seed, days } of runs) {
    const least = Math.min(...fortnights(days, { from: 0, to: days.length }))
    assert(least > 0.9, `seed ${seed}: ${least}`)
  }
})

test('a goal that is met on average buys a fifth more than one that bounds each click', () => {
  const expected = (days: readonly RoasDay[]) =>
    days.slice(0, HALVED_ON).reduce((sum, { expectedMicros }) => sum + expectedMicros, 0)
  for (const { seed, days } of runs) {
    const bounded = runRoasWorld({ ...ROAS_WORLD, days: HALVED_ON, multiplier: 1 }, seed)
    const gain = expected(days) / expected(bounded)
    assert(gain > 1.2, `seed ${seed}: ${gain}`)
  }
})
