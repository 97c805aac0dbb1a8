/** Published exchange rates in SQL: imported, and found for an order's day. */
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import { DOLLAR_RATE_ID, dollarRate, pickRate, RATE_AGE_DAYS_MAX, type Rate } from './currency.ts'

export interface NewRate {
  readonly day: string
  readonly currency: string
  readonly usdPerBase: string
  readonly currencyPerBase: string
}

/** Adds a source's rates; those it had for the same day are corrected. The number of rows. */
export function upsertRates(db: Db, source: string, rates: readonly NewRate[]): Promise<number> {
  return db.run(sql`
    insert into exchange_rate (source, day, currency, usd_per_base, currency_per_base)
    select ${source}, * from unnest(
      ${rates.map(({ day }) => day)}::date[],
      ${rates.map(({ currency }) => currency)}::text[],
      ${rates.map(({ usdPerBase }) => usdPerBase)}::text[],
      ${rates.map(({ currencyPerBase }) => currencyPerBase)}::text[])
    on conflict (source, day, currency) do update set
      usd_per_base = excluded.usd_per_base, currency_per_base = excluded.currency_per_base,
      imported_at = now()`)
}

export interface RateDay {
  readonly currency: string
  readonly day: string
}

/**
 * Finds the rate of each currency on each day, null where none is young enough.
 *
 * Where several sources have the same day, the one imported last for the first time wins.
 */
export async function findRates(
  db: Db,
  wanted: readonly RateDay[],
): Promise<(rateDay: RateDay) => Rate | null> {
  const foreign = wanted.filter(({ currency }) => currency !== 'USD')
  if (foreign.length === 0) return ({ day }) => dollarRate(day)
  const rows = await db.rows<Rate & RateDay>(sql`
    select distinct rate_id as "rateId", rate.currency, rate.day,
      usd_per_base as "usdPerBase", currency_per_base as "currencyPerBase"
    from unnest(
      ${foreign.map(({ currency }) => currency)}::text[],
      ${foreign.map(({ day }) => day)}::date[]
    ) as wanted (currency, day)
    join exchange_rate rate on rate.currency = wanted.currency
      and rate.day between wanted.day - ${RATE_AGE_DAYS_MAX}::int and wanted.day
    order by rate_id desc`)
  const byCurrency = Map.groupBy(rows, ({ currency }) => currency)
  return ({ currency, day }) =>
    currency === 'USD' ? dollarRate(day) : pickRate(byCurrency.get(currency) ?? [], day)
}

/** Rates by their ids; a dollar needs none. */
export async function findRatesByIds(
  db: Db,
  rateIds: readonly string[],
): Promise<Map<string, Rate>> {
  const published = [...new Set(rateIds)].filter((rateId) => rateId !== DOLLAR_RATE_ID)
  if (published.length === 0) return new Map()
  const rates = await db.rows<Rate>(sql`
    select rate_id as "rateId", day, usd_per_base as "usdPerBase",
      currency_per_base as "currencyPerBase"
    from exchange_rate where rate_id = any(${published}::bigint[])`)
  return new Map(rates.map((rate) => [rate.rateId, rate]))
}
