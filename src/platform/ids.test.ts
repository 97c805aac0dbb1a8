import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import {
  canBeSmallId,
  decodeBase62,
  encodeBase62,
  isId,
  MAX_ID,
  MAX_NODE_ID,
  makeIdSource,
} from './ids.ts'

const NOON = Date.UTC(2026, 6, 1, 12)

test('ids of one source always grow, whatever its clock does', () => {
  const steps = fc.array(fc.integer({ min: -5_000, max: 5_000 }), { minLength: 1, maxLength: 50 })
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 6_000 }), (clockSteps, idsPerStep) => {
      let clock = NOON
      const source = makeIdSource({ nodeId: 1, now: () => clock })
      let last = 0n
      for (const step of clockSteps) {
        clock += step
        for (let count = 0; count < idsPerStep; count += 1) {
          const id = BigInt(source.next())
          assert(id > last, `${id} after ${last}`)
          last = id
        }
      }
    }),
    { numRuns: 20 },
  )
})

test('two nodes never generate the same id, even within one millisecond', () => {
  const seen = new Set<string>()
  for (let nodeId = 1; nodeId <= MAX_NODE_ID; nodeId += 1) {
    const source = makeIdSource({ nodeId, now: () => NOON })
    for (let count = 0; count < 10; count += 1) seen.add(source.next())
  }
  assert.equal(seen.size, MAX_NODE_ID * 10)
})

test('ids of two nodes stay distinct if one clock runs ahead', () => {
  const ahead = makeIdSource({ nodeId: 7, now: () => NOON })
  const ids = new Set(Array.from({ length: 10_000 }, () => ahead.next()))
  const later = makeIdSource({ nodeId: 8, now: () => NOON + 1 })
  for (let count = 0; count < 4_096; count += 1) ids.add(later.next())
  assert.equal(ids.size, 14_096)
})

test('an id is above 2^53, fits a signed 64-bit column and contains its time', () => {
  const anyTime = fc.integer({ min: Date.UTC(2024, 1, 1), max: Date.UTC(2093, 0, 1) })
  fc.assert(
    fc.property(anyTime, fc.integer({ min: 1, max: MAX_NODE_ID }), (ms, nodeId) => {
      const id = makeIdSource({ nodeId, now: () => ms }).next()
      assert(BigInt(id) > 2n ** 53n)
      assert(BigInt(id) <= BigInt(MAX_ID))
      assert(isId(id))
      assert.equal(Number(BigInt(id) >> 22n) + Date.UTC(2024, 0, 1), ms)
    }),
  )
})

test('a clock beyond the range of ids stops the source with an error', () => {
  const early = makeIdSource({ nodeId: 1, now: () => Date.UTC(1970, 0, 1) })
  assert.throws(() => early.next(), /set it/)
  const late = makeIdSource({ nodeId: 1, now: () => Date.UTC(2094, 0, 1) })
  assert.throws(() => late.next(), /set it/)
})

test('a node number outside 1–1023 is refused', () => {
  for (const nodeId of [0, 1024, -1, 1.5, Number.NaN]) {
    assert.throws(() => makeIdSource({ nodeId, now: () => NOON }), /node number/)
  }
})

test('base 62 round-trips every id in at most 11 characters without padding', () => {
  const anyId = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String)
  fc.assert(
    fc.property(anyId, (id) => {
      const text = encodeBase62(id)
      assert.match(text, /^[1-9A-Za-z][0-9A-Za-z]{0,10}$/)
      assert.equal(decodeBase62(text), id)
    }),
  )
  assert.equal(decodeBase62(encodeBase62(MAX_ID)), MAX_ID)
  assert.equal(encodeBase62('1'), '1')
  assert.equal(encodeBase62('61'), 'z')
  assert.equal(encodeBase62('62'), '10')
})

test('a text that no id encodes to decodes to null', () => {
  const tooLarge = 'AzL8n0Y58m8' // 2^63
  assert.equal(decodeBase62('AzL8n0Y58m7'), MAX_ID)
  for (const text of ['', '0', '01', '-1', ' 1', '1 ', '1=', 'é', '١', tooLarge, 'z'.repeat(11)]) {
    assert.equal(decodeBase62(text), null, text)
  }
  assert.equal(decodeBase62('1'.repeat(1_000_000)), null)
})

test('every text decodes to null or to an id that encodes to it again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 13 }), (text) => {
      const id = decodeBase62(text)
      if (id !== null) assert.equal(encodeBase62(id), text)
    }),
  )
})

test('only positive 64-bit integers in plain digits are ids', () => {
  for (const text of ['1', '9007199254740993', MAX_ID]) assert(isId(text), text)
  const wrong = [
    '',
    '0',
    '01',
    '+1',
    '-1',
    '1.0',
    '1e3',
    ' 1',
    '9223372036854775808',
    '1'.repeat(20),
  ]
  for (const text of wrong) assert(!isId(text), text)
})

test("a number beyond a 32-bit column is nobody's id", () => {
  const numbers = [-1, 0, 1, 2_147_483_647, 2_147_483_648]
  assert.deepEqual(numbers.map(canBeSmallId), [false, false, true, true, false])
})
