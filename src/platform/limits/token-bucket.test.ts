import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TokenBuckets } from './token-bucket.ts'

test('a bucket holds its burst, fills at its rate, and a clock set back takes nothing from it', () => {
  const buckets = new TokenBuckets({ rate: 2, burst: 3 })
  const taken = (nowMs: number) => buckets.take('one', nowMs)
  assert.deepEqual([taken(60_000), taken(60_000)], [true, true])
  // By an hour: what was left is left.
  assert.deepEqual([taken(-3_540_000), taken(-3_540_000)], [true, false])
  assert.deepEqual([taken(-3_539_501), taken(-3_539_500)], [false, true])
  assert.deepEqual([100_000, 100_000, 100_000, 100_000].map(taken), [true, true, true, false])
  assert.equal(buckets.take('another', 100_000), true)
})
