import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { splitIntoSpans } from './breakdown.ts'

test('spans cover each day once, with few single days and weeks', () => {
  const day = fc.integer({ min: 10_000, max: 30_000 })
  fc.assert(
    fc.property(day, fc.integer({ min: 1, max: 731 }), (first, count) => {
      const from = new Date(first * DAY_MS)
      const to = new Date((first + count) * DAY_MS)
      const spans = splitIntoSpans({ from, to })
      let reached = from.getTime()
      for (const { days, from: begin, to: end } of spans) {
        assert.equal(begin.getTime(), reached)
        reached = end.getTime()
        assert.equal((reached - begin.getTime()) % (days * DAY_MS), 0)
        if (days > 1) assert.equal(begin.getUTCDay(), 1)
      }
      assert.equal(reached, to.getTime())
      const covered = (width: number) =>
        spans
          .filter(({ days }) => days === width)
          .reduce((sum, one) => sum + (one.to.getTime() - one.from.getTime()) / DAY_MS, 0)
      assert.ok(covered(1) <= 12 && covered(7) <= 42)
    }),
  )
})
