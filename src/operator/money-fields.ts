/** Amounts and fractions in bodies: decimal text and numbers, read exactly. */
import Type from 'typebox'
import { micros, PPM, parseDollars } from '../platform/money/money.ts'

const DOLLARS_RULE = 'must be US dollars, such as "0.05"'
const FRACTION_RULE = 'must be a fraction of at most six decimals, such as 0.75'

/** US dollars as text. */
export const dollars = (description: string) =>
  Type.Refine(
    Type.String({ maxLength: 32, description: `${description}, US dollars` }),
    (value) => typeof value !== 'string' || parseDollars(value) !== null,
    () => DOLLARS_RULE,
  )

/** The amount of a checked text. */
export const toMicros = (text: string) => parseDollars(text) ?? micros(0)

/** A fraction that is stored in millionths. */
export const fraction = (description: string) =>
  Type.Refine(
    Type.Number({ description: `${description}, a fraction` }),
    (value) => typeof value !== 'number' || isFine(value),
    () => FRACTION_RULE,
  )

export const toPpm = (value: number) => Math.round(value * PPM)

/** A finer value would be stored as another one than was sent; a larger one fits no column. */
function isFine(value: number): boolean {
  const ppm = toPpm(value)
  return Math.abs(value * PPM - ppm) < 0.01 && Math.abs(ppm) <= INTEGER_MAX
}

const INTEGER_MAX = 2_147_483_647
