/**
 * What amount does a cell state, and in which currency? Prices of feeds, amounts of reports.
 *
 * Strict on purpose: the whole cell must be one number, and all beside it mean one currency. A
 * cell that could mean two amounts (two prices, `1.299 EUR`) is refused, because a wrong price
 * is shown to readers and billed, and a refused row is reported to the merchant.
 */
import { ISO_4217 } from './iso4217.ts'
import { MICROS_PER_DOLLAR, type Micros, micros } from './money.ts'
import { currencyWords, isCurrency, readCurrency } from './read-currency.ts'

export type PriceFault =
  | 'price_missing'
  | 'price_unparsable'
  | 'price_negative'
  | 'price_zero'
  | 'currency_unknown'

export type PriceReading =
  | {
      readonly kind: 'price'
      /** Plain decimal: digits, then perhaps a dot and more digits. */
      readonly amount: string
      /** ISO 4217 code; null when neither the cell nor the caller names one. */
      readonly currency: string | null
    }
  /** `why` completes "it …" and is empty where `kind` says it all. */
  | { readonly kind: PriceFault; readonly why: string }

export type DecimalSign = '.' | ','

export type AmountReading =
  | {
      readonly kind: 'amount'
      /** Plain decimal, without its sign. */
      readonly amount: string
      readonly isNegative: boolean
      readonly currency: string | null
    }
  | { readonly kind: 'missing' | 'unparsable' | 'currency_unknown'; readonly why: string }

export interface AmountOptions {
  /** The ISO 4217 code that holds where the text names no currency. */
  readonly usual?: string | null
  /** The decimal sign of the whole column, where it is known; see `decimalSign`. */
  readonly decimal?: DecimalSign | null
}

// A cell piece by piece; \p{L} is a letter of any alphabet.
const SIGN = '[+-]?'
const SYMBOL = String.raw`[^\d.,+\- ]`
/** A currency's sign or code, or two: `€`, `US $`. */
const BEFORE = `${SYMBOL}{0,4}(?: ?${SYMBOL}{1,4})?`
/** The dot of `Rs. 499` or `Rs.499` ends a short word; that of `USD.50` might begin cents. */
const BETWEEN = String.raw`(?<=\p{L})\. |(?<=(?<!\p{L})\p{L}{1,2})\.|[ :]`
/** Digits with their separators, or cents alone. */
const NUMBER = String.raw`\d[\d., '’]*|(?<!\p{L})[.,]\d+`
/** What stands for the cents that a round price has not: `49.-`, `49,=`. */
const NO_CENTS = '[-–=]'
const AFTER = String.raw`[^\d.,+*-]{0,5}`
/** Stars that point to a footnote. */
const FOOTNOTE = String.raw`(?: ?\*+)?`

const PRICE = new RegExp(
  `^(?<sign>${SIGN}) ?(?<before>${BEFORE})(?:${BETWEEN})?(?<innerSign>${SIGN}) ?` +
    `(?<number>${NUMBER})(?<ending>${NO_CENTS})? ?(?<after>${AFTER})\\.?${FOOTNOTE}$`,
  'u',
)

/** No amount takes more; in a megabyte of separators the patterns would look about for days. */
const LENGTH_MAX = 64

// Marks of writing direction, joiners, byte order marks.
const INVISIBLE = /\p{Cf}/gu

// `3.595E1`, as XML writes a double: 35.95.
const EXPONENT = /^\d(?:\.\d+)?E\+?\d(?= |$)/

/**
 * Reads one price cell. Never throws.
 *
 * `usual` is the ISO 4217 code that applies where the cell names no currency (from a separate
 * column, or the feed's); it also decides the meaning of `1.299` and a bare `$`.
 */
export function readPrice(written: string, usual: string | null = null): PriceReading {
  // The shape of nearly every cell of a feed; the general way below answers the same.
  const plain = PLAIN_PRICE.exec(written)
  if (plain !== null) {
    const [, amount = '', code = ''] = plain
    return isCurrency(code) ? judge(amount, code) : { kind: 'currency_unknown', why: '' }
  }
  const reading = readAmount(written, { usual })
  if (reading.kind === 'amount') {
    const { amount, currency, isNegative } = reading
    if (isNegative) return { kind: 'price_negative', why: '' }
    const [whole = ''] = amount.split('.', 1)
    return whole.length > WHOLE_DIGITS_MAX ? unparsable(TOO_LARGE) : judge(amount, currency)
  }
  if (reading.kind === 'currency_unknown') return { kind: 'currency_unknown', why: '' }
  return reading.kind === 'missing' ? { kind: 'price_missing', why: '' } : unparsable(reading.why)
}

function unparsable(why: string): PriceReading {
  return { kind: 'price_unparsable', why }
}

/**
 * Reads the amount of money that a text states, negative ones and zero included. Never throws.
 * A whole text that could mean two amounts is unparsable.
 */
export function readAmount(
  written: string,
  { usual = null, decimal = null }: AmountOptions = {},
): AmountReading {
  const text = plainText(written)
  if (text === '') return { kind: 'missing', why: '' }
  const no = (why: string): AmountReading => ({ kind: 'unparsable', why })
  const parts = text.length > LENGTH_MAX ? undefined : PRICE.exec(text)?.groups
  if (parts === undefined) return no(whyNone(text))
  const { sign, before = '', innerSign, number = '', ending, after = '' } = parts
  const words = currencyWords(`${before} ${after}`)
  const currency = readCurrency(words, usual)
  const amount = readNumber(number.trim(), currency, decimal)
  if (amount === AMBIGUOUS) return no(`may be a decimal or thousands: "${number.trim()}"`)
  if (amount === null) return no(whyNone(text))
  if (currency === undefined) {
    if (RANGE.test(text)) return no(whyNone(text))
    return words.length > 1 ? no('names two currencies') : { kind: 'currency_unknown', why: '' }
  }
  // Some write the minus behind; there a dash may also stand for the cents that there are not.
  const isNegative = sign === '-' || innerSign === '-' || (ending === '-' && amount.includes('.'))
  return { kind: 'amount', amount, isNegative, currency }
}

function plainText(written: string): string {
  return written
    .replace(INVISIBLE, '')
    .replace(/\s+/g, ' ') // The narrow and the hard ones of typographers, too.
    .replace('\u2212', '-')
    .trim()
    .replace(EXPONENT, (number) => String(Number(number)))
    .replace(/^\(([^()]*)\)$/, '-$1') // As accountants write what is negative.
}

const TOO_LARGE = 'has too many digits'
/** `10 - 20`, `10.00–20.00 USD`, `from 10`, `ab 10`, `10 to 20`. */
const RANGE =
  /\d ?(?:[-–—~]|to|bis|à|a|до) ?\D{0,4}\d|^(?:from|ab|von|dès|desde|da|od|vanaf|från|fra|от)\b/iu

function whyNone(text: string): string {
  if (text.length > LENGTH_MAX) return `has more than ${LENGTH_MAX} characters`
  if (!/\d/.test(text)) return 'has no number'
  if (RANGE.test(text)) return 'is a range, not one price'
  if (/\d{10}/.test(text)) return TOO_LARGE
  return 'is not one number with one currency'
}

/**
 * The decimal sign of a whole column: amounts such as `1,234.50`, `0,045` or `12,5` show it, and
 * `1.234` alone does not. Null: no amount shows it. Throws nothing; `contradictory` when one
 * amount shows a comma and another one a dot.
 */
export function decimalSign(texts: Iterable<string>): DecimalSign | null | 'contradictory' {
  let found: DecimalSign | null = null
  for (const written of texts) {
    const number = /\d[\d., '’]*|[.,]\d+/.exec(plainText(written.slice(0, LENGTH_MAX * 4)))?.[0]
    const shown = number === undefined ? null : signShownBy(number.replace(/[., ]+$/, ''))
    if (shown === null) continue
    if (found !== null && found !== shown) return 'contradictory'
    found = shown
  }
  return found
}

function signShownBy(number: string): DecimalSign | null {
  const [dots, commas] = [number.split('.').length - 1, number.split(',').length - 1]
  if (dots + commas === 0) return null
  const last = number.lastIndexOf('.') > number.lastIndexOf(',') ? '.' : ','
  if (dots > 0 && commas > 0) return last
  // The same sign twice stands between thousands.
  if (dots + commas > 1) return last === '.' ? ',' : '.'
  return MAY_BE_THOUSANDS.test(number) ? null : last
}

const PLAIN_PRICE = /^((?:0|[1-9]\d{0,8})\.\d\d) ([A-Z]{3})$/

function judge(amount: string, currency: string | null): PriceReading {
  return /[1-9]/.test(amount)
    ? { kind: 'price', amount, currency }
    : { kind: 'price_zero', why: '' }
}

/**
 * A decimal of US dollars as micros, rounded to the nearest. Exact: below $10^9 the product is
 * below 10^15, where a double is off by less than a quarter.
 */
export function dollarsToMicros(amount: string): Micros {
  return micros(Math.round(Number(amount) * MICROS_PER_DOLLAR))
}

// Currencies where `1.299` has a decimal dot and `1,299` is a thousand.
const DOT_IS_DECIMAL: ReadonlySet<string> = new Set(
  'USD AUD CAD NZD HKD SGD TWD CNY MXN GBP INR PKR ILS CHF THB MYR PHP AED SAR QAR NGN KES'.split(
    ' ',
  ),
)

const WHOLE_DIGITS_MAX = 9 // Below $10^9 an amount in micros is a safe integer.

const AMBIGUOUS = 'ambiguous'
const AMOUNT_DIGITS_MAX = 15

/** The number as a plain decimal; null when it is none, AMBIGUOUS when it could be two. */
function readNumber(
  number: string,
  currency: string | null | undefined,
  decimal: DecimalSign | null,
): string | null {
  const text = number.replace(/[., ]+$/, '')
  const closing = number.slice(text.length)
  const separator = decimal ?? decimalSeparator(text, { currency, closing })
  if (separator === AMBIGUOUS) return AMBIGUOUS
  const at = separator === null ? -1 : text.lastIndexOf(separator)
  const whole = at === -1 ? text : text.slice(0, at)
  const fraction = at === -1 ? '' : text.slice(at + 1)
  if (!/^\d*$/.test(fraction)) return null
  const digits = ungroup(whole)
  if (digits === null || digits.length > AMOUNT_DIGITS_MAX) return null
  return fraction === '' ? digits : `${digits}.${fraction}`
}

function decimalSeparator(
  text: string,
  { currency, closing }: { currency: string | null | undefined; closing: string },
): DecimalSign | null | typeof AMBIGUOUS {
  const dots = text.split('.').length - 1
  const commas = text.split(',').length - 1
  if (dots > 0 && commas > 0) return text.lastIndexOf('.') > text.lastIndexOf(',') ? '.' : ','
  if (dots + commas !== 1) return null
  const sign = dots === 1 ? '.' : ','
  if (closing.includes(sign === '.' ? ',' : '.')) return null // `1.299,-`
  // A whole part of one to three digits and then exactly three more could be a thousand.
  if (!MAY_BE_THOUSANDS.test(text)) return sign
  if (currency && DOT_IS_DECIMAL.has(currency)) return sign === '.' ? '.' : null
  const minorUnits = currency ? ISO_4217.get(currency) : undefined
  if (minorUnits === 0) return null // Nothing is smaller than one yen.
  return minorUnits === 3 && sign === '.' ? '.' : AMBIGUOUS
}

const MAY_BE_THOUSANDS = /^[1-9]\d{0,2}[.,]\d{3}$/

// Thousands, each by the same sign; or the Indian way, by two after the first three.
const GROUPED = /^\d{1,3}(?:([., '’])\d{3}(?:\1\d{3})*)$|^\d{1,2}(?:,\d{2})+,\d{3}$/

/** The digits of a whole number that may be grouped; null when its groups are not regular. */
function ungroup(whole: string): string | null {
  if (whole === '') return '0'
  if (/^\d+$/.test(whole)) return whole.replace(/^0+(?=\d)/, '')
  return GROUPED.test(whole) ? whole.replace(/\D/g, '') : null
}
