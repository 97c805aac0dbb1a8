/**
 * Reads the currency from the words beside a price or in a separate column.
 *
 * A sign of several currencies gives all of them: a code beside the sign, a column of the feed or
 * the rest of the feed decides.
 */
import { ISO_4217 } from './iso4217.ts'

const SIGNS: ReadonlyMap<string, readonly string[]> = new Map(
  [
    ['$', 'USD AUD CAD NZD HKD SGD TWD MXN ARS CLP COP UYU'],
    ['KR', 'SEK NOK DKK ISK'],
    ['¥', 'JPY CNY'],
    ['RS', 'INR PKR LKR NPR MUR'],
    ['US', 'USD'], // `US $49.99`
    ['US$', 'USD'],
    ['A$', 'AUD'],
    ['AU$', 'AUD'],
    ['C$', 'CAD'],
    ['CA$', 'CAD'],
    ['NZ$', 'NZD'],
    ['HK$', 'HKD'],
    ['S$', 'SGD'],
    ['NT$', 'TWD'],
    ['MX$', 'MXN'],
    ['R$', 'BRL'],
    ['€', 'EUR'],
    ['EURO', 'EUR'],
    ['£', 'GBP'],
    ['FR', 'CHF'],
    ['₹', 'INR'],
    ['₽', 'RUB'],
    ['РУБ', 'RUB'],
    ['Р', 'RUB'],
    ['₴', 'UAH'],
    ['ГРН', 'UAH'],
    ['₪', 'ILS'],
    ['円', 'JPY'],
    ['元', 'CNY'],
    ['₩', 'KRW'],
    ['원', 'KRW'],
    ['₫', 'VND'],
    ['฿', 'THB'],
    ['₱', 'PHP'],
    ['RM', 'MYR'],
    ['RP', 'IDR'],
    ['₦', 'NGN'],
    ['₺', 'TRY'],
    ['TL', 'TRY'],
    ['ZŁ', 'PLN'],
    ['KČ', 'CZK'],
    ['LEI', 'RON'],
  ].map(([sign = '', codes = '']) => [sign, codes.split(' ')]),
)

/** True for a code that is in use; false for withdrawn ones and metals, which price nothing. */
export function isCurrency(code: string): boolean {
  return (ISO_4217.get(code) ?? null) !== null
}

/** Matches a price that has a letter or the sign of a currency beside its number. */
export const CURRENCY_BESIDE = /[\p{Sc}\p{L}]/u

/** The words as signs and codes are compared: in capitals, without dots and colons. */
export function currencyWords(text: string): string[] {
  return text.toUpperCase().match(/[^\s.:]+/g) ?? []
}

/** An ISO code; `usual` where there are no words; undefined when they do not mean one. */
export function readCurrency<Usual extends string | null>(
  words: readonly string[],
  usual: Usual,
): string | Usual | undefined {
  if (words.length === 0) return usual
  const [first = [], ...others] = words.map(currenciesOf)
  const possible = first.filter((code) => others.every((codes) => codes.includes(code)))
  if (possible.length < 2) return possible[0]
  if (usual !== null && possible.includes(usual)) return usual
  return possible.includes('USD') ? 'USD' : undefined // A bare `$`.
}

/** ISO 4217 codes, by a code or a sign in capitals; none for a word that means no currency. */
function currenciesOf(word: string): readonly string[] {
  return isCurrency(word) ? [word] : (SIGNS.get(word) ?? [])
}
