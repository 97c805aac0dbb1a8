/**
 * Converts other currencies to micro-dollars once, on the order's day, by a stored rate.
 *
 * The arithmetic is exact: a price, an exponent of ISO 4217 and two published decimals are
 * multiplied as whole numbers and rounded once, half to even. Floating point would differ from
 * other systems by a micro-dollar now and then, without an explanation.
 */
import { type Micros, micros } from '../platform/money/money.ts'
import { divideHalfEven } from '../platform/money/round.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'

/** An older rate is a guess, so the order is held until there is a better one. */
export const RATE_AGE_DAYS_MAX = 5

const DOLLAR_EXPONENT = 6

/** A published pair: the dollars and the units of the currency for one unit of the base. */
export interface Rate {
  readonly rateId: string
  readonly day: string // YYYY-MM-DD, the day for which the source published it
  readonly usdPerBase: string // decimal text, as published
  readonly currencyPerBase: string
}

interface Fraction {
  readonly digits: bigint
  readonly scale: bigint // a power of ten: the value is digits / scale
}

export const DOLLAR_RATE_ID = 'usd'

/** A dollar is worth a dollar on every day. */
export function dollarRate(day: string): Rate {
  return { rateId: DOLLAR_RATE_ID, day, usdPerBase: '1', currencyPerBase: '1' }
}

/** The last rate on or before the day, at most five days old. Null means that the order is held. */
export function pickRate(rates: readonly Rate[], day: string): Rate | null {
  let best: Rate | null = null
  for (const rate of rates) {
    if (rate.day <= day && (best === null || rate.day > best.day)) best = rate
  }
  if (best === null) return null
  const ageDays = (Date.parse(day) - Date.parse(best.day)) / DAY_MS
  return ageDays <= RATE_AGE_DAYS_MAX ? best : null
}

/**
 * `minor` units (pence, yen, fils) of a currency with `exponent` decimals, in micro-dollars.
 *
 * Null if the amount exceeds the safe range of micros (about nine billion dollars).
 */
export function toMicros(
  minor: bigint,
  exponent: number,
  rate: Pick<Rate, 'usdPerBase' | 'currencyPerBase'>,
): Micros | null {
  const usd = fraction(rate.usdPerBase)
  const currency = fraction(rate.currencyPerBase)
  // minor · 10^(6 - exponent) · (usd / currency), with exact powers of ten.
  const numerator = minor * 10n ** BigInt(DOLLAR_EXPONENT) * usd.digits * currency.scale
  const denominator = 10n ** BigInt(exponent) * usd.scale * currency.digits
  const value = Number(divideHalfEven(numerator, denominator))
  return Number.isSafeInteger(value) ? micros(value) : null
}

const AMOUNT = /^(\d{1,15})(?:\.(\d{1,12}))?$/

/**
 * Reads `"105.00"` as minor units of a currency with `exponent` decimals.
 *
 * Null for anything but a plain non-negative decimal with at most the currency's decimals. Extra
 * zeros are allowed (`"12800.00"` yen).
 */
export function parseMinor(text: string, exponent: number): bigint | null {
  const match = AMOUNT.exec(text)
  if (match === null) return null
  const decimals = match[2] ?? ''
  if (/[1-9]/.test(decimals.slice(exponent))) return null
  return BigInt(`${match[1]}${decimals.slice(0, exponent).padEnd(exponent, '0')}`)
}

/** Writes minor units as a decimal of the currency: `10500n` of USD is `"105.00"`. */
export function formatMinor(minor: bigint, exponent: number): string {
  const digits = minor.toString().padStart(exponent + 1, '0')
  const whole = digits.slice(0, digits.length - exponent)
  const rest = digits.slice(digits.length - exponent)
  return exponent > 0 ? `${whole}.${rest}` : whole
}

const RATE = /^\d{1,12}(?:\.\d{1,12})?$/

/** Whether a text is a valid published rate: a plain decimal above 0. */
export function isRate(text: string): boolean {
  return RATE.test(text) && /[1-9]/.test(text)
}

function fraction(decimal: string): Fraction {
  if (!isRate(decimal)) throw new RangeError(`not a rate: ${decimal}`)
  const [whole = '0', rest = ''] = decimal.split('.')
  return { digits: BigInt(`${whole}${rest}`), scale: 10n ** BigInt(rest.length) }
}
