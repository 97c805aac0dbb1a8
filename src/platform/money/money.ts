/**
 * Money is a whole number of micro-dollars (millionths of a US dollar) everywhere inside Souk.
 *
 * A branded safe integer: $9.0e9 fits, sums never round, and a plain number cannot be passed by
 * mistake. Decimals exist only at the edges, as strings.
 */
import { divideHalfEven } from './round.ts'

export type Micros = number & { readonly micros: unique symbol }

export const MICROS_PER_DOLLAR = 1_000_000
export const MICROS_PER_CENT = 10_000
const HALF_CENT = MICROS_PER_CENT / 2
/** Shares and rates are whole parts per million. */
export const PPM = 1_000_000

/** Checks that a number is a whole, safe amount; throws RangeError if not. */
export function micros(value: number): Micros {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not a whole amount of micros: ${value}`)
  return value as Micros
}

const DECIMAL = /^(\d{1,10})(?:\.(\d{1,6}))?$/

/** Reads `"49.99"` as micros; null if it is not a plain non-negative decimal. */
export function parseDollars(text: string): Micros | null {
  const match = DECIMAL.exec(text)
  if (match === null) return null
  const value = Number(match[1]) * MICROS_PER_DOLLAR + Number((match[2] ?? '').padEnd(6, '0'))
  return Number.isSafeInteger(value) ? micros(value) : null
}

/** Writes micros as dollars with two decimals, half to even: `"49.99"`. */
export function formatCents(amount: number | bigint | string): string {
  // Plain numbers are exact in the safe range and ten times as fast in a long report.
  return Number.isSafeInteger(amount)
    ? writeSmall(smallCents(amount as number))
    : writeLarge(largeCents(BigInt(amount)))
}

/** The cents that `formatCents` writes. */
export function roundToCents(amount: number | bigint): number {
  return typeof amount === 'number' ? smallCents(amount) : Number(largeCents(amount))
}

function smallCents(value: number): number {
  const magnitude = Math.abs(value)
  const rest = magnitude % MICROS_PER_CENT
  const cents = (magnitude - rest) / MICROS_PER_CENT
  const isUp = rest > HALF_CENT || (rest === HALF_CENT && cents % 2 === 1)
  const rounded = isUp ? cents + 1 : cents
  return value < 0 ? -rounded : rounded
}

function largeCents(value: bigint): bigint {
  return divideHalfEven(value, BigInt(MICROS_PER_CENT))
}

function writeSmall(cents: number): string {
  const magnitude = Math.abs(cents)
  const fraction = magnitude % 100
  return `${cents < 0 ? '-' : ''}${(magnitude - fraction) / 100}.${fraction < 10 ? '0' : ''}${fraction}`
}

function writeLarge(cents: bigint): string {
  const magnitude = cents < 0n ? -cents : cents
  const fraction = String(magnitude % 100n).padStart(2, '0')
  return `${cents < 0n ? '-' : ''}${magnitude / 100n}.${fraction}`
}

/** Writes micros exactly, with two to six decimals: `"0.542235"`, `"12.50"`. */
export function formatExact(amount: number | bigint | string): string {
  const value = BigInt(amount)
  const magnitude = value < 0n ? -value : value
  const fraction = String(magnitude % 1_000_000n).padStart(6, '0')
  const shown = fraction.slice(0, 2) + fraction.slice(2).replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${magnitude / 1_000_000n}.${shown}`
}

/** The sum of many amounts, which may leave the safe range although none of them does. */
export function sumExact(amounts: readonly (number | bigint)[]): bigint {
  return amounts.reduce<bigint>((total, amount) => total + BigInt(amount), 0n)
}

/** The publisher's part of a price, `floor(price * share)`; the platform keeps the rest. */
export function publisherPart(price: Micros, sharePpm: number): Micros {
  // Exact even if price * ppm leaves the safe range (above $9,000 a click).
  return micros(Number((BigInt(price) * BigInt(sharePpm)) / 1_000_000n))
}
