/**
 * Money is a whole number of micro-dollars (millionths of a US dollar) everywhere inside Souk.
 *
 * A branded safe integer: $9.0e9 fits, sums never round, and a plain number cannot be passed by
 * mistake. Decimals exist only at the edges, as strings (economics 0).
 */
export type Micros = number & { readonly micros: unique symbol }

export const MICROS_PER_DOLLAR = 1_000_000
const MICROS_PER_CENT = 10_000

/** Checks that a number is a whole, safe amount; throws RangeError (a broken invariant) if not. */
export function micros(value: number): Micros {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not a whole amount of micros: ${value}`)
  return value as Micros
}

const DECIMAL = /^(\d{1,10})(?:\.(\d{1,6}))?$/

/** Reads `"49.99"` as micros; null when it is not a plain non-negative decimal of US dollars. */
export function parseDollars(text: string): Micros | null {
  const match = DECIMAL.exec(text)
  if (match === null) return null
  const value = Number(match[1]) * MICROS_PER_DOLLAR + Number((match[2] ?? '').padEnd(6, '0'))
  return Number.isSafeInteger(value) ? micros(value) : null
}

/** Writes micros as dollars with two decimals, half to even (decisions 4.4): `"49.99"`. */
export function formatCents(amount: number | bigint | string): string {
  // Plain numbers are exact up to the safe range, and ten times as fast in a long report.
  return Number.isSafeInteger(amount) ? smallCents(amount as number) : largeCents(BigInt(amount))
}

function smallCents(value: number): string {
  const magnitude = Math.abs(value)
  const rest = magnitude % MICROS_PER_CENT
  let cents = (magnitude - rest) / MICROS_PER_CENT
  if (isRoundedUp(rest, cents % 2 === 1)) cents += 1
  const fraction = cents % 100
  const sign = value < 0 && cents > 0 ? '-' : ''
  return `${sign}${(cents - fraction) / 100}.${fraction < 10 ? '0' : ''}${fraction}`
}

function largeCents(value: bigint): string {
  const magnitude = value < 0n ? -value : value
  const rest = Number(magnitude % BigInt(MICROS_PER_CENT))
  let cents = magnitude / BigInt(MICROS_PER_CENT)
  if (isRoundedUp(rest, cents % 2n === 1n)) cents += 1n
  const sign = value < 0n && cents > 0n ? '-' : ''
  return `${sign}${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
}

function isRoundedUp(rest: number, isOdd: boolean): boolean {
  const half = MICROS_PER_CENT / 2
  return rest > half || (rest === half && isOdd)
}

/** Writes micros exactly, with two to six decimals: `"0.542235"`, `"12.50"`. */
export function formatExact(amount: number | bigint | string): string {
  const value = BigInt(amount)
  const magnitude = value < 0n ? -value : value
  const fraction = String(magnitude % 1_000_000n).padStart(6, '0')
  const shown = fraction.slice(0, 2) + fraction.slice(2).replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${magnitude / 1_000_000n}.${shown}`
}

/** The publisher's part of a price, `floor(price * share)`; the platform keeps the rest. */
export function publisherPart(price: Micros, sharePpm: number): Micros {
  // Exact even where price * ppm leaves the safe range (above $9,000 a click).
  return micros(Number((BigInt(price) * BigInt(sharePpm)) / 1_000_000n))
}
