import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../test/support/fast-check.ts'
import { evenly } from '../../test/support/uniform-numbers.ts'
import { benefit } from './reader-benefit.ts'

const exponent = evenly(-1, 1)

test('the reader benefit equals the exponential to 10^-15, and is exactly 1 at no gain', () => {
  assert.equal(benefit(0), 1)
  fc.assert(
    fc.property(exponent, (x) => Math.abs(benefit(x) / Math.exp(x) - 1) < 1e-15),
    { numRuns: 20_000 },
  )
})

test('a greater gain is never worth less', () => {
  fc.assert(
    fc.property(exponent, exponent, (x, y) => {
      fc.pre(Math.abs(x - y) > 1e-14)
      return benefit(Math.min(x, y)) < benefit(Math.max(x, y))
    }),
    { numRuns: 20_000 },
  )
})

test('the values are fixed to the bit, so that receipts replay on every engine', () => {
  assert.equal(benefit(0.08), 1.0832870676749586)
  assert.equal(benefit(0.05), 1.0512710963760241)
  assert.equal(benefit(-0.6), 0.5488116360940264)
  assert.equal(benefit(0.9), 2.459603111156949)
  assert.ok(Math.abs(benefit(1) / Math.E - 1) < 1e-15)
  assert.ok(Math.abs(benefit(-1) * Math.E - 1) < 1e-15)
})
