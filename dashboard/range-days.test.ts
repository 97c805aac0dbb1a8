import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compared, presetOf, rangeOf, weeksOf } from './range-days.ts'

const NOW_MS = Date.parse('2026-03-02T23:59:59Z')

test('presets are whole UTC days, and are recognised', () => {
  for (const [preset, from, to] of [
    ['today', '2026-03-02', '2026-03-02'],
    ['yesterday', '2026-03-01', '2026-03-01'],
    ['7days', '2026-02-24', '2026-03-02'],
    ['90days', '2025-12-03', '2026-03-02'],
    ['month', '2026-03-01', '2026-03-02'],
    ['lastMonth', '2026-02-01', '2026-02-28'],
  ] as const) {
    assert.deepEqual(rangeOf(preset, NOW_MS), { from, to })
    assert.equal(presetOf({ from, to }, NOW_MS), preset)
  }
  assert.equal(presetOf({ from: '2026-01-01', to: '2026-01-05' }, NOW_MS), null)
})

test('compares with as many days before, or with the same days a year before', () => {
  const week = { from: '2026-02-24', to: '2026-03-02' }
  assert.deepEqual(compared(week, 'previous'), { from: '2026-02-17', to: '2026-02-23' })
  assert.deepEqual(compared(week, 'year'), { from: '2025-02-24', to: '2025-03-02' })
  const leap = { from: '2028-02-29', to: '2028-02-29' }
  assert.deepEqual(compared(leap, 'year'), { from: '2027-02-28', to: '2027-02-28' })
})

test('a month is drawn in whole weeks that begin on Monday', () => {
  const weeks = weeksOf('2026-02-10')
  assert.equal(weeks.length, 5)
  assert.equal(weeks[0]?.[0], '2026-01-26')
  assert.equal(weeks.at(-1)?.at(-1), '2026-03-01')
})
