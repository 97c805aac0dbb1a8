import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawRandomBytes } from './random-bytes.ts'

test('random bytes never repeat, also across pages, and do not change afterwards', () => {
  const drawn = Array.from({ length: 2_000 }, () => drawRandomBytes(16))
  const texts = drawn.map((bytes) => bytes.toString('hex'))
  drawRandomBytes(4_096)
  assert.equal(new Set(texts).size, drawn.length)
  assert.deepEqual(
    drawn.map((bytes) => bytes.toString('hex')),
    texts,
  )
})

test('every bit is one about half of the time', () => {
  const drawn = Array.from({ length: 10_000 }, () => drawRandomBytes(16))
  for (let bit = 0; bit < 128; bit += 1) {
    const ones = drawn.filter((bytes) => ((bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1).length
    // 10,000 coin flips: 5,000 ± 6 σ, a chance of one in 10^6 over all 128 bits.
    assert(Math.abs(ones - 5_000) < 300, `${ones} of 10,000`)
  }
})
