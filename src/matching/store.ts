/** The listings that match a product's identifiers, and the campaigns that would pay for them. */

import type { CampaignModel } from '../campaigns/campaign.ts'
import { joinableGtin14, readGtin } from '../catalog/gtin.ts'
import { FEED_AGE_MAX_MS } from '../catalog/merchant.ts'
import { unwrapUrl } from '../links/unwrap.ts'
import { urlKey } from '../platform/net/url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import type { MatchQuery } from './schema.ts'

export interface ListingRow {
  readonly merch_id: number
  readonly merchant_name: string
  readonly title: string
  readonly brand: string | null
  readonly gtin_text: string | null
  readonly url: string
  readonly image_url: string | null
  readonly price_micros: string
  readonly category_id: number | null
  readonly is_in_stock: boolean
  readonly is_exact: boolean // It has exactly the identifier of the request.
  readonly is_fresh: boolean // Its feed is recent enough for auctions.
}

/** A campaign that is running now and open to the publisher. */
export interface PayingCampaignRow {
  readonly campaign_id: number
  readonly merch_id: number
  readonly model: CampaignModel
  readonly bid_micros: string | null
  readonly exclusive_bid_micros: string | null
  readonly rate_ppm: number | null
  readonly payment_micros: string | null
  readonly roas: number | null
  readonly roas_multiplier: number // The ROAS goal's current multiplier of the bid's ceiling.
  readonly is_funded: boolean // Neither of its budgets is used up.
  readonly has_budget_left: boolean // It bids on another day, even if today's budget is used up.
}

/** Merchants of one product; more shops never sell the same one. */
const MERCHANTS_MAX = 1000
/** A shop's own number can be very common ("1"), so at most this many listings are examined. */
const EXACT_MAX = 1000
/** Per merchant: at most this many listings of a product are checked for their page's owner. */
const LISTINGS_EACH = 20
const FEED_PAGE_ROWS = 1_000 // Formatting a line takes about 10 µs, and readers wait meanwhile.

/** Whether a listing's page is still on a domain of its merchant, as it was at the import. */
export type IsOwnPage = (listing: { readonly merch_id: number; readonly url: string }) => boolean

interface ListingsWanted {
  readonly query: MatchQuery
  readonly isMember: boolean // Whether the account is a member of the partner program.
  readonly now: Date
  readonly isOwnPage: IsOwnPage
}

/**
 * One listing per merchant that sells the product: by GTIN if that finds any, else by SKU, else by
 * URL. Each is the exact listing if the merchant has it, else its cheapest in stock.
 */
export async function findListings(
  db: Db,
  { query, isMember, now, isOwnPage }: ListingsWanted,
): Promise<ListingRow[]> {
  for (const condition of conditionsOf(query, isMember)) {
    const own = (await findBy(db, condition, now)).filter(isOwnPage)
    // The rows are ordered by merchant, the best first.
    const listings = own.filter(({ merch_id }, at) => merch_id !== own[at - 1]?.merch_id)
    if (listings.length > 0) return listings.slice(0, MERCHANTS_MAX)
  }
  return []
}

/** Campaigns of these merchants that run now and are open to this publisher. */
export function listPayingCampaigns(
  db: Db,
  { pubId, merchIds, now }: { pubId: number; merchIds: readonly number[]; now: Date },
): Promise<PayingCampaignRow[]> {
  return db.rows(sql`
    select campaign_id, merch_id, model, bid_micros, exclusive_bid_micros, rate_ppm,
      payment_micros, roas, coalesce(multiplier, 1) as roas_multiplier,
      not (is_used_up or is_used_up_today) as is_funded, not is_used_up as has_budget_left
    from campaign left join roas_multiplier using (campaign_id) cross join lateral (
      -- Not the account's cap: where orders cost money after their click, it has none.
      select coalesce(bool_or(day is null and settled_micros >= budget_micros), false)
          as is_used_up,
        coalesce(bool_or(day is not null and settled_micros >= daily_budget_micros), false)
          as is_used_up_today
      from budget_account account
      where account.campaign_id = campaign.campaign_id
        and (day is null or day = (${now}::timestamptz at time zone 'UTC')::date)
    ) as spending
    where merch_id = any(${merchIds}::int[]) and state = 'active'
      and not (select is_suspended from merchant m where m.merch_id = campaign.merch_id)
      and (starts_at is null or starts_at <= ${now}) and (ends_at is null or ends_at > ${now})
      and (allow_publishers = '{}' or ${pubId}::int = any(allow_publishers))
      and not ${pubId}::int = any(block_publishers)
    order by campaign_id
  `)
}

/** A product in a merchant's feed. */
export interface FeedOfferRow {
  readonly sku: string
  readonly title: string
  readonly brand: string | null
  readonly gtin_text: string | null
  readonly mpn: string | null
  readonly url: string
  readonly image_url: string | null
  readonly price_micros: string
  readonly regular_price_micros: string | null
  readonly category_id: number | null
  readonly description: string | null
  readonly color: string | null
  readonly size: string | null
  readonly item_group_id: string | null
}

/** A page of a merchant's products in stock, by SKU; empty after the last one. */
export function listFeedOffers(
  db: Db,
  { merchId, after }: { merchId: number; after: string },
): Promise<FeedOfferRow[]> {
  return db.rows(sql`
    select sku, title, brand, gtin_text, mpn, url, image_url, price_micros,
      regular_price_micros, category_id, description, color, size, item_group_id
    from current_offer
    where merch_id = ${merchId} and is_in_stock and sku > ${after}
    order by sku limit ${FEED_PAGE_ROWS}
  `)
}

/** The identifiers to try, the most reliable first. A URL is only for members (variant A). */
function conditionsOf({ gtin, sku, product_url }: MatchQuery, isMember: boolean): Sql[] {
  const conditions: Sql[] = []
  if (gtin !== undefined) conditions.push(gtinCondition(gtin))
  if (sku !== undefined) conditions.push(sql`sku = ${sku}`)
  const key = product_url === undefined ? null : urlKey(unwrapUrl(product_url) ?? product_url)
  if (isMember && key !== null) conditions.push(sql`url_key = ${key}`)
  return conditions
}

/** A GTIN that may join merchants is the product's id; any other number matches only itself. */
function gtinCondition(text: string): Sql {
  const gtin14 = joinableGtin14(readGtin(text))
  if (gtin14 !== null) return sql`product_id = ${gtin14}::bigint`
  return sql`gtin14 is null and gtin_text = ${text}`
}

function findBy(db: Db, condition: Sql, now: Date): Promise<ListingRow[]> {
  const freshFrom = new Date(now.getTime() - FEED_AGE_MAX_MS)
  return db.rows(sql`
    with exact as (
      select offer_id, product_id from current_offer where ${condition} limit ${EXACT_MAX}
    ), same as (
      select *, offer_id in (select offer_id from exact) as is_exact from current_offer
      where product_id in (select product_id from exact)
    ), best as (
      select *, row_number() over (
        partition by merch_id
        order by is_exact desc, is_in_stock desc, price_micros, offer_id
      ) as place
      from same
    )
    select merch_id, name as merchant_name, title, brand, gtin_text, url, image_url,
      price_micros, category_id, is_in_stock, is_exact,
      coalesce(feed_imported_at >= ${freshFrom}, false) as is_fresh
    from best join merchant using (merch_id)
    where place <= ${LISTINGS_EACH}
    order by merch_id, place
  `)
}
