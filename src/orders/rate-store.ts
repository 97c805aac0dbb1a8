/** Published exchange rates in SQL: imports, and lookups for an order's day. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DOLLAR_RATE_ID, dollarRate, pickRate, RATE_AGE_DAYS_MAX, type Rate } from './currency.ts'

export interface NewRate {
  readonly day: string
  readonly currency: string
  readonly usdPerBase: string
  readonly currencyPerBase: string
}

/** The result of an import: rates added, and rates already stored. */
export interface ImportedRates {
  readonly new: number
  readonly changed: number // the source has corrected its rate of that day
  readonly same: number
}

/**
 * Adds a source's rates. A correction is a separate row, so orders converted before keep their
 * rate. If one day and currency has two rates, the later one counts.
 */
export function insertRates(
  db: Db,
  source: string,
  rates: readonly NewRate[],
): Promise<ImportedRates> {
  return db.transaction(async (tx) => {
    // Two concurrent imports would otherwise both add the same rates.
    await tx.run(sql`lock table exchange_rate in share row exclusive mode`)
    const counts = await tx.row<ImportedRates>(sql`
      with input as (
        select distinct on (day, currency) day, currency, usd_per_base, currency_per_base
        from unnest(
          ${rates.map(({ day }) => day)}::date[],
          ${rates.map(({ currency }) => currency)}::text[],
          ${rates.map(({ usdPerBase }) => usdPerBase)}::text[],
          ${rates.map(({ currencyPerBase }) => currencyPerBase)}::text[]
        ) with ordinality as line (day, currency, usd_per_base, currency_per_base, place)
        order by day, currency, place desc
      ), compared as (
        select input.*, known.rate_id is null as is_new, known.rate_id is not null
          and (input.usd_per_base::numeric, input.currency_per_base::numeric)
            <> (known.usd_per_base::numeric, known.currency_per_base::numeric) as is_changed
        from input left join lateral (
          select * from exchange_rate
          where source = ${source} and currency = input.currency and day = input.day
          order by rate_id desc limit 1
        ) as known on true
      ), added as (
        insert into exchange_rate (source, day, currency, usd_per_base, currency_per_base)
        select ${source}, day, currency, usd_per_base, currency_per_base from compared
        where is_new or is_changed
      )
      select (count(*) filter (where is_new))::int as new,
        (count(*) filter (where is_changed))::int as changed,
        (count(*) filter (where not is_new and not is_changed))::int as same
      from compared`)
    return counts ?? { new: 0, changed: 0, same: 0 }
  })
}

export interface StoredRate {
  readonly rate_id: string
  readonly source: string
  readonly day: string
  readonly currency: string
  readonly usd_per_base: string
  readonly currency_per_base: string
  readonly datetime_created: Date
}

/** A page of rates, the latest first, with one more row than `limit` if there is one. */
export function listRatePage(
  db: Db,
  page: {
    readonly currency: string | null
    readonly source: string | null
    readonly before: string | null
    readonly limit: number
  },
): Promise<StoredRate[]> {
  const { currency, source, before, limit } = page
  return db.rows(sql`
    select rate_id, source, day, currency, usd_per_base, currency_per_base, datetime_created
    from exchange_rate
    where (${currency}::text is null or currency = ${currency})
      and (${source}::text is null or source = ${source})
      and (${before}::bigint is null or rate_id < ${before})
    order by rate_id desc limit ${limit + 1}`)
}

export interface RateDay {
  readonly currency: string
  readonly day: string
}

/**
 * Finds the rate of each currency on each day; null without a recent one.
 *
 * Of several rates of one day, from corrections or other sources, the newest row wins.
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

/** Rates by their ids. A dollar needs none. */
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
