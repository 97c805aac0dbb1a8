/** Reads the currency in a column's name: `Commission (EUR)`, `saleAmountUsd`, `Sales £`. */
import { currencyWords, isCurrency, readCurrency } from './read-currency.ts'

/**
 * Read in upper or lower case. Other codes only in capitals, because `all`, `top` and `try` are
 * words.
 */
const COMMON = new Set('USD EUR GBP CAD AUD NZD CHF JPY SEK NOK DKK PLN CZK INR BRL'.split(' '))

/** One currency for each sign that several share. */
const SHARED_SIGNS = ['USD', 'SEK', 'JPY', 'INR']

export interface NamedColumn {
  /** The name without the currency, for the comparison with a map. */
  readonly name: string
  /** The words that name the currency, for `readCurrency`; empty if there is none. */
  readonly currency: readonly string[]
}

const BRACKETS = /[([{]\s*([^()[\]{}]{1,20}?)\s*[)\]}]/
const SIGN = /(?:\p{Lu}{1,2})?\p{Sc}/u
const CODE_AT_END = /(?:^|[\s_.,:/-])(?:in )?([A-Za-z]{3})$/
const CODE_AT_START = /^([A-Za-z]{3})[\s_.,:/-]/
const CAMEL_CODE = /(?<=[a-z])([A-Z][a-z]{2})$/

export function readColumnName(written: string): NamedColumn {
  const header = written.trim()
  const isShouted = header === header.toUpperCase()
  for (const pattern of [BRACKETS, SIGN, CODE_AT_END, CODE_AT_START, CAMEL_CODE]) {
    const match = pattern.exec(header)
    if (match === null) continue
    const found = (match[1] ?? match[0]).replace(/^in /i, '')
    const currency = wordsOf(found, pattern === BRACKETS || !isShouted)
    if (currency.length === 0) continue
    const name = `${header.slice(0, match.index)} ${header.slice(match.index + match[0].length)}`
    return { name: plainName(name), currency }
  }
  return { name: plainName(header), currency: [] }
}

function wordsOf(text: string, areCodesTrusted: boolean): string[] {
  const words = currencyWords(text)
  const isCode = /^[A-Za-z]{3}$/.test(text) && isCurrency(text.toUpperCase())
  if (isCode) {
    const isSure = (text === text.toUpperCase() && areCodesTrusted) || COMMON.has(words[0] ?? '')
    return isSure ? words : []
  }
  // `Sales (net)` names no currency; `(kr)` names one of several.
  const isKnown = SHARED_SIGNS.some((usual) => readCurrency(words, usual) !== undefined)
  return words.length > 0 && isKnown ? words : []
}

/** Letters and digits only, so that `Order ID`, `order_id` and `orderId` are equal. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}
