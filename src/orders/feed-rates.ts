/**
 * Converts feed prices in other currencies to dollars, by the published rates of the import's day.
 */
import { onlyDollars, type ToDollars } from '../catalog/feeds/check-offer.ts'
import { ISO_4217 } from '../platform/money/iso4217.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { toMicros } from './currency.ts'
import { findRates } from './rate-store.ts'

/** Reads the rates once, so that all rows of a feed are converted alike. */
export async function feedPriceRates(db: Db, day: string): Promise<ToDollars> {
  const wanted = [...ISO_4217.keys()].map((currency) => ({ currency, day }))
  const rateOf = await findRates(db, wanted)
  const rates = new Map(wanted.map((rateDay) => [rateDay.currency, rateOf(rateDay)]))
  return (amount, currency) => {
    const dollars = onlyDollars(amount, currency)
    if (dollars !== null) return dollars
    const rate = rates.get(currency)
    if (!rate) return null
    const [whole = '', decimals = ''] = amount.split('.')
    return toMicros(BigInt(whole + decimals), decimals.length, rate)
  }
}
