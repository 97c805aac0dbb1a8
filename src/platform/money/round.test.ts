import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/support/fast-check.ts'
import { divideHalfEven } from './round.ts'

test('half-to-even division is within half a unit, ties go to the even side, and signs are symmetric', () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.bigInt({ min: 1n, max: 10n ** 20n }), (numerator, denominator) => {
      const quotient = divideHalfEven(numerator, denominator)
      const twiceOff = 2n * (numerator - quotient * denominator)
      assert.ok(twiceOff <= denominator && -twiceOff <= denominator)
      if (twiceOff === denominator || -twiceOff === denominator) assert.equal(quotient % 2n, 0n)
      assert.equal(divideHalfEven(-numerator, denominator), -quotient)
    }),
  )
  assert.throws(() => divideHalfEven(1n, 0n), RangeError)
})
