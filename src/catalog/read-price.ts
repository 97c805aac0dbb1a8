/**
 * What amount does a price cell state, and in which currency?
 *
 * Strict on purpose: the whole cell must be one number, and all beside it mean one currency. A
 * cell that could mean two amounts (two prices, `1.299 EUR`) is refused, because a wrong price
 * is shown to readers and billed, and a refused row is reported to the merchant.
 */
import { ISO_4217 } from '../platform/iso4217.ts'
import { MICROS_PER_DOLLAR, type Micros, micros } from '../platform/money.ts'
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
  | { readonly kind: PriceFault }

// A cell piece by piece; \p{L} is a letter of any alphabet.
const SIGN = '[+-]?'
const SYMBOL = String.raw`[^\d.,+\- ]`
/** A currency's sign or code, or two: `€`, `US $`. */
const BEFORE = `${SYMBOL}{0,4}(?: ?${SYMBOL}{1,4})?`
/** The dot of `Rs. 499` or `Rs.499` ends a short word; that of `USD.50` might begin cents. */
const BETWEEN = String.raw`(?<=\p{L})\. |(?<=(?<!\p{L})\p{L}{1,2})\.|[ :]`
/** Digits with what groups them, or cents alone. */
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
 * `usual` is the ISO 4217 code that holds where the cell names no currency (a column of its own,
 * or the feed's); it also decides what `1.299` and a bare `$` mean.
 */
export function readPrice(written: string, usual: string | null = null): PriceReading {
  // The shape of nearly every cell of a feed; the general way below answers the same.
  const plain = PLAIN_PRICE.exec(written)
  if (plain !== null) {
    const [, amount = '', code = ''] = plain
    return judge(amount, isCurrency(code) ? code : undefined)
  }
  const text = written
    .replace(INVISIBLE, '')
    .replace(/\s+/g, ' ') // The narrow and the hard ones of typographers, too.
    .replace('\u2212', '-')
    .trim()
    .replace(EXPONENT, (number) => String(Number(number)))
  if (text === '') return { kind: 'price_missing' }
  const parts = text.length > LENGTH_MAX ? undefined : PRICE.exec(text)?.groups
  if (parts === undefined) return { kind: 'price_unparsable' }
  const { sign, before = '', innerSign, number = '', ending, after = '' } = parts
  const words = currencyWords(`${before} ${after}`)
  const currency = readCurrency(words, usual)
  const amount = readNumber(number.trim(), currency)
  const areAtOdds = currency === undefined && words.length > 1
  if (amount === null || areAtOdds) return { kind: 'price_unparsable' }
  if (sign === '-' || innerSign === '-') return { kind: 'price_negative' }
  // Some write it behind; behind a whole number a dash stands for the cents that there are not.
  if (ending === '-' && amount.includes('.')) return { kind: 'price_negative' }
  return judge(amount, currency)
}

const PLAIN_PRICE = /^((?:0|[1-9]\d{0,8})\.\d\d) ([A-Z]{3})$/

function judge(amount: string, currency: string | null | undefined): PriceReading {
  if (currency === undefined) return { kind: 'currency_unknown' }
  return /[1-9]/.test(amount) ? { kind: 'price', amount, currency } : { kind: 'price_zero' }
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

/** The number as a plain decimal; null when it is none, or when it could be two. */
function readNumber(number: string, currency: string | null | undefined): string | null {
  const text = number.replace(/[., ]+$/, '')
  const separator = decimalSeparator(text, { currency, closing: number.slice(text.length) })
  if (separator === 'ambiguous') return null
  const at = separator === null ? -1 : text.lastIndexOf(separator)
  const whole = at === -1 ? text : text.slice(0, at)
  const fraction = at === -1 ? '' : text.slice(at + 1)
  if (!/^\d*$/.test(fraction)) return null
  const digits = ungroup(whole)
  if (digits === null || digits.length > WHOLE_DIGITS_MAX) return null
  return fraction === '' ? digits : `${digits}.${fraction}`
}

function decimalSeparator(
  text: string,
  { currency, closing }: { currency: string | null | undefined; closing: string },
): '.' | ',' | null | 'ambiguous' {
  const dots = text.split('.').length - 1
  const commas = text.split(',').length - 1
  if (dots > 0 && commas > 0) return text.lastIndexOf('.') > text.lastIndexOf(',') ? '.' : ','
  if (dots + commas !== 1) return null
  const sign = dots === 1 ? '.' : ','
  if (closing.includes(sign === '.' ? ',' : '.')) return null // `1.299,-`
  // A whole part of one to three digits and then exactly three more could be a thousand.
  if (!/^[1-9]\d{0,2}[.,]\d{3}$/.test(text)) return sign
  if (currency && DOT_IS_DECIMAL.has(currency)) return sign === '.' ? '.' : null
  const minorUnits = currency ? ISO_4217.get(currency) : undefined
  if (minorUnits === 0) return null // Nothing is smaller than one yen.
  return minorUnits === 3 && sign === '.' ? '.' : 'ambiguous'
}

// Thousands, each by the same sign; or the Indian way, by two after the first three.
const GROUPED = /^\d{1,3}(?:([., '’])\d{3}(?:\1\d{3})*)$|^\d{1,2}(?:,\d{2})+,\d{3}$/

/** The digits of a whole number that may be grouped; null when its groups are not regular. */
function ungroup(whole: string): string | null {
  if (whole === '') return '0'
  if (/^\d+$/.test(whole)) return whole.replace(/^0+(?=\d)/, '')
  return GROUPED.test(whole) ? whole.replace(/\D/g, '') : null
}
