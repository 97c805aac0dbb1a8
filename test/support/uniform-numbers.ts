import fc from './fast-check.ts'

const STEPS = 2 ** 31 - 1

/**
 * Numbers spread evenly over a range, including its ends.
 *
 * `fc.double` spreads over bit patterns: of its values between 0 and 1, one in a thousand is above
 * a half and most are tiny. A property would then hold because nothing happens.
 */
export function evenly(min: number, max: number): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(min, max) },
    { weight: 9, arbitrary: fc.nat(STEPS).map((step) => min + ((max - min) * step) / STEPS) },
  )
}
