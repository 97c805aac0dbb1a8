/**
 * Reads files of published exchange rates into rows, or into their faults.
 *
 * Two formats are known. Wide, as central banks publish: `date,USD,JPY,…`, units of each currency
 * for one unit of the base. Long: `date,currency,rate`, one rate per row, with an optional column
 * `base`. A wide file, or a long one without that column, does not name its base: it is the one of
 * euro and dollar that the file does not quote, or quotes at 1.
 */

import { badRequest, type Fault } from '../platform/errors/api-errors.ts'
import { ISO_4217 } from '../platform/money/iso4217.ts'
import { hasColumns, readCsv, requireColumns } from '../platform/text/csv.ts'
import { isPlainDate, latestDay, utcDay } from '../platform/time/timestamp.ts'
import { isRate } from './currency.ts'
import type { NewRate } from './rate-store.ts'

interface Quote {
  readonly line: number
  readonly day: string
  readonly base: string | null // null: the file's
  readonly currency: string
  readonly rate: string
}

/**
 * Currencies that were replaced by the euro or redenominated. The European Central Bank still
 * publishes their history, which prices nothing today.
 */
const GONE: ReadonlySet<string> = new Set('BGN CYP EEK HRK LTL LVL MTL ROL SIT SKK TRL'.split(' '))

/** The possible bases of a file that does not name its base. */
const BASES: readonly string[] = ['EUR', 'USD']

/** The rates of a file. Throws a 400 whose faults name the lines; then no rate may be used. */
export function readRates(text: string, nowMs: number): NewRate[] {
  const lastDay = latestDay(nowMs)
  const table = readCsv(text, hasColumns(['date']))
  requireColumns(table, ['date'])
  const { headers, rows } = table
  const isLong = headers.includes('currency') && headers.includes('rate')
  const published = rows.flatMap(({ line, cells }): Quote[] => {
    const day = isoDay(cells.date ?? '')
    if (isLong) {
      const currency = (cells.currency ?? '').toUpperCase()
      const base = cells.base === undefined ? null : cells.base.toUpperCase()
      return [{ line, day, base, currency, rate: cells.rate ?? '' }]
    }
    return headers
      .filter((name) => name !== 'date')
      .map((name) => ({ name, rate: cells[name] ?? '' }))
      .filter(({ rate }) => rate !== '' && rate !== 'N/A') // Not published on that day.
      .map(({ name, rate }) => ({ line, day, base: null, currency: name.toUpperCase(), rate }))
  })
  const quotes = published.filter(({ currency }) => !GONE.has(currency))
  const faults = quotes.flatMap((quote) => faultsOf(quote, lastDay))
  const base = baseOf(quotes)
  if (base === null && (quotes.length === 0 || quotes.some((quote) => quote.base === null))) {
    const rule = BASES.every((code) => quotes.some(({ currency }) => currency === code))
      ? 'both USD and EUR are quoted: name their base, in columns date, currency, rate, base'
      : 'rates of USD (base EUR) or of EUR (base USD) are needed'
    faults.push({ field: 'line 1', rule })
  }
  if (faults.length > 0) throw badRequest(faults)
  return toDollars(quotes, base ?? 'USD')
}

const DAY_IN_WORDS = /^\d{1,2} [A-Z][a-z]+ \d{4}$/

/** `21 November 2026`, as in the bank's daily file; anything else unchanged. */
function isoDay(written: string): string {
  if (!DAY_IN_WORDS.test(written)) return written
  const atMs = Date.parse(`${written} UTC`)
  // A 31st of February would become a day in March.
  const isDay = new Date(atMs).getUTCDate() === Number.parseInt(written, 10)
  return isDay ? utcDay(atMs) : written
}

function faultsOf({ line, day, base, currency, rate }: Quote, lastDay: string): Fault[] {
  const field = `line ${line}`
  const isDay = isPlainDate(day)
  return [
    ...(isDay ? [] : [{ field, rule: `"${day}" is no date such as 2026-03-02` }]),
    ...(isDay && day > lastDay ? [{ field, rule: `"${day}" lies in the future` }] : []),
    ...[...new Set([currency, base ?? currency])]
      .filter((code) => !ISO_4217.has(code))
      .map((code) => ({ field, rule: `ISO 4217 has no ${code}` })),
    ...(isRate(rate) ? [] : [{ field, rule: `"${rate}" is no rate: a decimal above 0` }]),
  ]
}

function baseOf(quotes: readonly Quote[]): string | null {
  const ratesOf = (code: string) => quotes.filter(({ currency }) => currency === code)
  const unquoted = BASES.filter((code) => ratesOf(code).length === 0)
  const atOne = BASES.filter((code) => ratesOf(code).every(({ rate }) => Number(rate) === 1))
  const [base, other] = unquoted.length > 0 ? unquoted : atOne
  return base === undefined || other !== undefined ? null : base
}

/** Dollars and currency for one unit of the same base. The base itself also gets a rate. */
function toDollars(quotes: readonly Quote[], fileBase: string): NewRate[] {
  const rates: NewRate[] = []
  const faults: Fault[] = []
  const byDay = Map.groupBy(quotes, ({ day, base }) => `${day} ${base ?? fileBase}`)
  for (const [key, ofDay] of byDay) {
    const [day = '', base = ''] = key.split(' ')
    const usdPerBase = base === 'USD' ? '1' : ofDay.find(({ currency }) => currency === 'USD')?.rate
    if (usdPerBase === undefined) {
      faults.push({ field: `line ${ofDay[0]?.line}`, rule: `no rate of USD for ${base} on ${day}` })
      continue
    }
    const foreign = ofDay.filter(({ currency }) => currency !== 'USD' && currency !== base)
    if (base !== 'USD') rates.push({ day, currency: base, usdPerBase, currencyPerBase: '1' })
    for (const { currency, rate } of foreign) {
      rates.push({ day, currency, usdPerBase, currencyPerBase: rate })
    }
  }
  if (faults.length > 0) throw badRequest(faults)
  return rates
}
