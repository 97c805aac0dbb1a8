import fc from './fast-check.ts'

const STEPS = 2 ** 31 - 1

/**
 * Numbers spread evenly over a range, its ends among them.
 *
 * `fc.double` spreads over bit patterns instead: of what it draws between 0 and 1, one in a
 * thousand is above a half and most is nothing to speak of: a property holds because nothing
 * happens.
 */
export function evenly(min: number, max: number): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(min, max) },
    { weight: 9, arbitrary: fc.nat(STEPS).map((step) => min + ((max - min) * step) / STEPS) },
  )
}
