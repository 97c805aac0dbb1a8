import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TokenBuckets } from '../platform/limits/token-bucket.ts'
import { chargeCall, costOf } from './call-cost.ts'

const body = (events: number, more: object = {}) =>
  Buffer.from(
    JSON.stringify({
      organization_type: 'publisher',
      organization_id: 7,
      user: { source_url: 'https://x.example/' },
      events: Array.from({ length: events }, () => ({ auction_id: '9007199254740993' })),
      ...more,
    }),
  )

test('a call costs one token for each event, or for each KiB if that is more', () => {
  assert.equal(costOf(body(1)), 1)
  assert.equal(costOf(body(40)), 40)
  assert.equal(costOf(body(100)), 100)
  assert.equal(costOf(body(5_000)), Math.ceil(body(5_000).length / 1_024))
  assert.equal(costOf(body(1, { more: 'x'.repeat(200 * 1_024) })), 201)
  assert.equal(costOf(Buffer.alloc(0)), 1)
})

test('a call is charged before its body is parsed, whatever is wrong with it', () => {
  const limits = new TokenBuckets({ rate: 1, burst: 100 })
  const call = { address: '198.51.100.1', nowMs: 0 }
  const broken = Buffer.concat([body(60), Buffer.from('}')])
  chargeCall(limits, { ...call, body: broken })
  assert.throws(() => chargeCall(limits, { ...call, body: broken }), { status: 429 })
})

test('a second organization in the same body is charged too', () => {
  const limits = new TokenBuckets({ rate: 1, burst: 10 })
  const call = { address: '198.51.100.1', body: body(10), nowMs: 0 }
  chargeCall(limits, call)(8)
  assert.throws(() => chargeCall(limits, { ...call, body: body(1) }), { status: 429 })
  assert.equal(limits.take('198.51.100.1 8', 0), false)
  assert.equal(limits.take('198.51.100.1 9', 0), true)
})
