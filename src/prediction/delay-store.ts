/** Reads from judged clicks how many led to orders, and the delays of the orders. */
import { REASON } from '../events/reason.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { WAITS_DAYS, type Waits } from './delay.ts'
import { type DelayCurve, WAITS_MS } from './evidence.ts'
import { HALF_LIFE_DAYS, type MerchantDay } from './half-life.ts'

/** Orders attributed to a click, not to a link that was only seen. */
export const IS_LED_BY_CLICK = sql`coalesce(attribution, '') <> 'impression'`
/** Orders that count: valid, paid and of a paid click. */
export const IS_BROUGHT = sql`reversed_at is null and revenue_micros > 0 and rejected_at is null
  and hold is null and ${IS_LED_BY_CLICK}`

/**
 * Lists the delays of orders after clicks of the last WAITS_DAYS, grouped by age of the click and
 * by delay. Only the first order of a click counts. Otherwise sixty late reports for one click
 * would make orders of other merchants in a young network look delayed.
 */
export async function loadWaits(db: Db, nowMs: number): Promise<Waits[]> {
  const [since, now] = [new Date(nowMs - WAITS_DAYS * DAY_MS), new Date(nowMs)]
  const rows = await db.rows<{ merch_id: number; orders: number; wait_ms: number; age_ms: number }>(
    sql`
      select merch_id, count(*)::int as orders, sum(wait_ms) as wait_ms, avg(age_ms) as age_ms
      from (
        select merchant_order.merch_id,
          greatest(0, extract(epoch from min(accepted_at) - at) * 1000)::float8 as wait_ms,
          (extract(epoch from ${now}::timestamptz - at) * 1000)::float8 as age_ms
        from merchant_order join click using (click_id)
        where at >= ${since} and at < ${now} and accepted_at < ${now} and ${IS_BROUGHT}
        group by merchant_order.merch_id, click_id, at
      ) as brought
      group by merch_id, round(4 * ln(age_ms)), round(2 * ln(wait_ms + 60000))`,
  )
  return rows.map((row) => ({
    merchId: row.merch_id,
    orders: row.orders,
    waitMs: row.wait_ms,
    ageMs: row.age_ms,
  }))
}

/** Lists merchants' valid clicks of each UTC day, and how many led to an order. */
export async function loadMerchantDays(db: Db, nowMs: number): Promise<MerchantDay[]> {
  const [since, now] = [new Date(nowMs - HALF_LIFE_DAYS * DAY_MS), new Date(nowMs)]
  const rows = await db.rows<{ merch_id: number; day: number; clicks: number; orders: number }>(sql`
    with clicked as (
      select merch_id, floor(extract(epoch from at) / 86400)::int as day, count(*)::int as clicks
      from click
      where at >= ${since} and at < ${now} and reason = ${REASON.ok} and reversed_at is null
        and merch_id <> 0
      group by 1, 2
    ), brought as (
      select click.merch_id, floor(extract(epoch from at) / 86400)::int as day,
        count(distinct click_id)::int as orders
      from merchant_order join click using (click_id)
      where at >= ${since} and at < ${now} and accepted_at < ${now} and ${IS_BROUGHT}
      group by 1, 2
    )
    select merch_id, day, clicks, coalesce(orders, 0) as orders
    from clicked left join brought using (merch_id, day)`)
  return rows.map(({ merch_id: merchId, ...of }) => ({ merchId, ...of }))
}

/** A delay curve as a PostgreSQL array literal. */
export const curveText = (curve: DelayCurve): string => `{${curve.join(',')}}`

/**
 * The share of orders that come later than an age, in SQL: `curve` is a float8 array. The exponent
 * is bounded, because PostgreSQL raises an error on underflow.
 */
export function waitingShare(curve: Sql, ageMs: Sql): Sql {
  return WAITS_MS.map(
    (meanMs, part) => sql`(${curve})[${part + 1}::int]
    * exp(-least(700, ${ageMs} / ${meanMs}::float8))`,
  ).reduce((sum, term) => sql`${sum} + ${term}`)
}
