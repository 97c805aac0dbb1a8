/** A merchant's own offers in SQL, with the shops that sell the same, clicks and cost. */
import { joinableGtin14, readGtin } from '../catalog/gtin.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'

export const OFFER_STATES = ['in_stock', 'out_of_stock', 'unmatched', 'rejected'] as const
export type OfferState = (typeof OFFER_STATES)[number]

/** The days of clicks and cost. */
export const OFFER_DAYS = 30
const WORDS_MAX = 10

export interface OfferQuery {
  readonly merchId: number
  readonly q: string | null
  readonly state: OfferState | null
  readonly afterId: string
  readonly limit: number
  readonly now: Date
}

export interface OfferRow {
  readonly offer_id: string
  readonly sku: string
  readonly gtin: string | null
  readonly title: string
  readonly brand: string | null
  readonly url: string
  readonly image_url: string | null
  readonly price_micros: string
  readonly is_in_stock: boolean
  readonly matches: number
  readonly clicks: string
  readonly cost_micros: string
  readonly feed_imported_at: Date | null
}

/** Other merchants that sell the product of an offer now. */
const others = (offer: Sql): Sql => sql`
  from current_offer other
  where other.product_id = ${offer}.product_id and other.merch_id <> ${offer}.merch_id`

/** In the order of their ids. */
export function listMerchantOffers(db: Db, query: OfferQuery): Promise<OfferRow[]> {
  const { merchId, afterId, limit, now } = query
  const since = sql`${now}::timestamptz - make_interval(days => ${OFFER_DAYS})`
  return db.rows(sql`
    with page as materialized (
      select offer_id, merch_id, product_id, sku, coalesce(gtin_text, gtin14::text) as gtin, title,
        brand, url, image_url, price_micros, is_in_stock
      from current_offer offer
      where merch_id = ${merchId} and offer_id > ${afterId}::bigint
        and ${stateCondition(query.state)} and ${queryCondition(query.q)}
      order by offer_id limit ${limit}
    ), clicked as (
      select offer_id,
        count(*) filter (where reason = 0 and reversed_at is null) as clicks,
        sum(merchant_cost_micros) filter (where reversed_at is null) as cost_micros
      from click
      where merch_id = ${merchId} and at >= ${since} and offer_id in (select offer_id from page)
      group by offer_id
    ), ordered as (
      select click.offer_id, sum(net_commission_micros) as cost_micros
      from merchant_order bought join click using (click_id)
      where bought.merch_id = ${merchId} and bought.is_posted and bought.accepted_at >= ${since}
        and click.offer_id in (select offer_id from page)
      group by click.offer_id
    )
    select page.offer_id, sku, gtin, title, brand, url, image_url, price_micros, is_in_stock,
      (select count(distinct other.merch_id)::int ${others(sql`page`)}) as matches,
      coalesce(clicks, 0) as clicks,
      coalesce(clicked.cost_micros, 0) + coalesce(ordered.cost_micros, 0) as cost_micros,
      (select feed_imported_at from merchant where merchant.merch_id = page.merch_id)
    from page
    left join clicked on clicked.offer_id = page.offer_id
    left join ordered on ordered.offer_id = page.offer_id
    order by page.offer_id`)
}

function stateCondition(state: OfferState | null): Sql {
  switch (state) {
    case 'in_stock':
      return sql`is_in_stock`
    case 'out_of_stock':
      return sql`not is_in_stock`
    case 'unmatched':
      return sql`not exists (select ${others(sql`offer`)})`
    default:
      return sql`true`
  }
}

/** Every word in the title or brand; or the SKU or GTIN as a whole. */
function queryCondition(q: string | null): Sql {
  const text = q?.trim() ?? ''
  if (text === '') return sql`true`
  const gtin14 = joinableGtin14(readGtin(text))
  const named = sql`concat_ws(' ', title, brand)`
  const words = text.split(/\s+/u).slice(0, WORDS_MAX).map(likeText)
  return sql`(sku = ${text} or gtin_text = ${text} or gtin14 = ${gtin14}::bigint
    or ${named} ilike all (${words}::text[]))`
}

const likeText = (word: string): string => `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`

export interface RejectedOffer {
  readonly reject_id: number
  readonly sku: string | null
  readonly line: number
  readonly value: string
  readonly reason: string
  readonly detail: string
  readonly started_at: Date
}

/** The rejected rows of the last import, in the order of the feed. */
export function listRejectedOffers(db: Db, query: OfferQuery): Promise<RejectedOffer[]> {
  const { merchId, q, afterId, limit } = query
  const text = q?.trim() ?? ''
  const isFound =
    text === ''
      ? sql`true`
      : sql`(sku = ${text} or value ilike all (${text.split(/\s+/u).map(likeText)}::text[]))`
  return db.rows(sql`
    select reject_id, sku, line, value, reason, detail, started_at
    from feed_reject join feed_run using (import_id)
    where import_id = (
        select max(import_id) from feed_run
        where merch_id = ${merchId} and not is_dry_run and ended_at is not null
          and result is not null)
      and reject_id > ${afterId}::bigint and ${isFound}
    order by reject_id limit ${limit}`)
}
