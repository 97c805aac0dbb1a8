/**
 * Which currencies may a word beside a price mean?
 *
 * Signs of several currencies are here with all of them: a code beside the sign, a column of the
 * feed or the rest of the feed says which.
 */
import { ISO_4217 } from '../platform/iso4217.ts'

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

/** ISO 4217 codes, by a code or a sign in capitals; none for a word that means no currency. */
export function currenciesOf(word: string): readonly string[] {
  return isCurrency(word) ? [word] : (SIGNS.get(word) ?? [])
}
