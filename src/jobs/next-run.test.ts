import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextRun } from './next-run.ts'
import { SCHEDULES } from './schedules.ts'

const NOW = new Date(Date.UTC(2026, 1, 28, 23, 50, 30))

test('the next run of a schedule is the first matching minute after now', () => {
  const next = (cron: string) => nextRun(cron, NOW)?.toISOString()
  assert.equal(next('* * * * *'), '2026-02-28T23:51:00.000Z')
  assert.equal(next('50 * * * *'), '2026-03-01T00:50:00.000Z')
  assert.equal(next('*/10 * * * *'), '2026-03-01T00:00:00.000Z')
  assert.equal(next('15 */6 * * *'), '2026-03-01T00:15:00.000Z')
  assert.equal(next('30 2 * * *'), '2026-03-01T02:30:00.000Z')
  assert.equal(nextRun('0 0 30 2 *', NOW), null)
})

test('every schedule has a next run', () => {
  for (const { cron } of SCHEDULES) assert.ok(nextRun(cron, NOW) !== null, cron)
})
