/**
 * A merchant's performance in SQL: its auctions from the daily totals, its clicks and orders from
 * the fold, joined by the caller's grouping. Costs and orders are current: a reversed click or a
 * rejected order counts nothing, on whatever day it was reversed.
 */
import { DIMENSION } from '../auction/auction-totals.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'

export const GROUPS = ['day', 'campaign', 'publisher', 'product', 'device', 'country'] as const
export type Group = (typeof GROUPS)[number]

export interface PerformanceQuery {
  readonly merchId: number
  readonly campaignId: number | null
  readonly dayFrom: string
  readonly dayTo: string
  readonly group: Group
  readonly limitRows: number
  readonly skipRows: number
}

/** Sums of one group. `key` is a day, an id, or the number of a device or a country. */
export interface PerformanceRow {
  readonly key: string
  readonly name: string | null // Of the publisher or the product.
  readonly sku: string | null
  readonly auctions: string
  readonly won: string
  readonly bids: string
  readonly bid_micros: string
  readonly price_micros: string
  readonly lost: Readonly<Record<string, number>> // Auctions by loss code.
  readonly clicks: string
  readonly invalid_clicks: string
  readonly cost_micros: string
  readonly orders: string
  readonly revenue_micros: string
}

interface Keys {
  readonly dimension: number
  readonly ofAuctions: Sql
  readonly ofClicks: Sql
}

/** A country's number, as `countryValue` writes it. */
const COUNTRY = sql`coalesce(ascii(e.country) * 256 + ascii(substr(e.country, 2)), 0)::bigint::text`

const KEYS: Readonly<Record<Group, Keys>> = {
  day: { dimension: DIMENSION.all, ofAuctions: sql`a.day::text`, ofClicks: sql`c.day::text` },
  campaign: {
    dimension: DIMENSION.all,
    ofAuctions: sql`a.campaign_id::text`,
    ofClicks: sql`c.campaign_id::text`,
  },
  publisher: {
    dimension: DIMENSION.publisher,
    ofAuctions: sql`a.value::text`,
    ofClicks: sql`c.pub_id::text`,
  },
  product: {
    dimension: DIMENSION.offer,
    ofAuctions: sql`a.value::text`,
    ofClicks: sql`coalesce(c.offer_id, 0)::text`,
  },
  device: {
    dimension: DIMENSION.device,
    ofAuctions: sql`a.value::text`,
    ofClicks: sql`coalesce(e.device, 0)::text`,
  },
  country: { dimension: DIMENSION.country, ofAuctions: sql`a.value::text`, ofClicks: COUNTRY },
}

/** A page of groups: days in order, everything else by cost. */
export function readPerformance(db: Db, query: PerformanceQuery): Promise<PerformanceRow[]> {
  const { group, limitRows, skipRows } = query
  const order =
    group === 'day'
      ? sql`key`
      : sql`coalesce(cost_micros, 0) + coalesce(commission_micros, 0) desc, auctions desc, key`
  return db.rows(sql`
    with auction as (${auctionsOf(query)}), click_sum as (${clicksOf(query)}),
    order_sum as (${ordersOf(query)})
    select key, ${nameOf(group)} as name, ${skuOf(group)} as sku,
      coalesce(auctions, 0)::text as auctions, coalesce(won, 0)::text as won,
      coalesce(bids, 0)::text as bids, coalesce(bid_micros, 0)::text as bid_micros,
      coalesce(price_micros, 0)::text as price_micros, coalesce(lost, '{}'::jsonb) as lost,
      coalesce(clicks, 0)::text as clicks, coalesce(invalid_clicks, 0)::text as invalid_clicks,
      (coalesce(cost_micros, 0) + coalesce(commission_micros, 0))::text as cost_micros,
      coalesce(orders, 0)::text as orders, coalesce(revenue_micros, 0)::text as revenue_micros
    from auction full join click_sum using (key) full join order_sum using (key)
    order by ${order} limit ${limitRows} offset ${skipRows}`)
}

function auctionsOf({ merchId, campaignId, dayFrom, dayTo, group }: PerformanceQuery): Sql {
  const { dimension, ofAuctions } = KEYS[group]
  return sql`
    select key, sum(auctions) as auctions, sum(auctions) filter (where reason = 0) as won,
      sum(bids) as bids, sum(bid_micros) as bid_micros, sum(price_micros) as price_micros,
      jsonb_object_agg(reason, auctions) filter (where reason <> 0) as lost
    from (
      select ${ofAuctions} as key, a.reason, sum(a.auctions)::bigint as auctions,
        sum(a.bids)::bigint as bids, sum(a.bid_micros) as bid_micros,
        sum(a.price_micros) as price_micros
      from auction_day a join campaign using (campaign_id)
      where campaign.merch_id = ${merchId} and a.dimension = ${dimension}
        and a.day between ${dayFrom} and ${dayTo}
        and (${campaignId}::int is null or a.campaign_id = ${campaignId})
      group by 1, 2
    ) as by_reason
    group by key`
}

/** The event has device and country; only groups by these read it. */
function eventOf(group: Group): Sql {
  return group === 'device' || group === 'country'
    ? sql`left join event e on e.day = c.day and e.id = c.event_id`
    : sql``
}

function clicksOf({ merchId, campaignId, dayFrom, dayTo, group }: PerformanceQuery): Sql {
  return sql`
    select ${KEYS[group].ofClicks} as key,
      count(*) filter (where c.reason = 0 and c.reversed_at is null) as clicks,
      count(*) filter (where c.reason <> 0 or c.reversed_at is not null) as invalid_clicks,
      sum(c.merchant_cost_micros) filter (where c.reversed_at is null) as cost_micros
    from click c ${eventOf(group)}
    where c.merch_id = ${merchId} and c.campaign_id is not null
      and c.at >= ${`${dayFrom}T00:00:00Z`}::timestamptz
      and c.at < ${`${dayTo}T00:00:00Z`}::timestamptz + interval '1 day'
      and (${campaignId}::int is null or c.campaign_id = ${campaignId})
    group by 1`
}

/**
 * Orders on the day on which they were accepted; other groups are those of their click. An order of
 * a campaign that pays per click has no entry in the ledger, and counts all the same.
 */
function ordersOf({ merchId, campaignId, dayFrom, dayTo, group }: PerformanceQuery): Sql {
  const key = group === 'day' ? sql`o.day::text` : KEYS[group].ofClicks
  return sql`
    select ${key} as key, sum(o.net_sales) as orders,
      sum(o.net_revenue_micros) as revenue_micros, sum(o.net_commission_micros) as commission_micros
    from merchant_order o join click c on c.click_id = o.click_id ${eventOf(group)}
    where o.merch_id = ${merchId} and o.day between ${dayFrom} and ${dayTo}
      and c.campaign_id is not null
      and (${campaignId}::int is null or c.campaign_id = ${campaignId})
    group by 1`
}

function nameOf(group: Group): Sql {
  if (group === 'publisher') {
    return sql`(select name from publisher where pub_id::text = key)`
  }
  return group === 'product' ? ofOffer(sql`title`) : sql`null`
}

const skuOf = (group: Group): Sql => (group === 'product' ? ofOffer(sql`sku`) : sql`null`)

const ofOffer = (column: Sql): Sql => sql`(
  select ${column} from offer where offer_id = key::bigint order by from_generation desc limit 1)`
