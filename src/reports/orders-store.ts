/** The orders report in SQL: one row per product of an order, on the day the order was accepted. */

import { MODEL } from '../events/event.ts'
import type { PaidAt, PublisherReleases } from '../ledger/publisher-releases.ts'
import { DOLLAR_RATE_ID, dollarRate, parseMinor, type Rate, toMicros } from '../orders/currency.ts'
import { countedAmounts, ORDER_COLUMNS, type OrderRow, stateOfOrder } from '../orders/order-view.ts'
import { findRatesByIds } from '../orders/rate-store.ts'
import { ISO_4217 } from '../platform/money/iso4217.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { joinClickedOffer } from '../stats/clicked-offer-store.ts'
import {
  type ClickFacts,
  cookieId,
  deviceName,
  isBrandPage,
  networkName,
  productPrice,
  userAgent,
} from './click-cells.ts'
import { type ClickEvent, type ClickPlace, withClickEvents } from './click-event-store.ts'
import {
  nextPlace,
  type ReportPage,
  type ReportRequest,
  type ReportRow,
  readPlace,
  reportTime,
} from './report.ts'

interface OrderLine extends ClickFacts, Omit<OrderRow, keyof ClickFacts> {
  readonly order_product_id: string
  readonly event_id: string
  readonly day: string
  readonly line: number
  readonly ordered_at: Date
  readonly locks_at: Date
  readonly line_earnings_micros: string
  readonly line_revenue_micros: string
  readonly quantity: number
  readonly purchased_product_id: string | null
  readonly purchased_name: string | null
  readonly purchased_brand: string | null
  readonly purchased_price: string | null // As reported, in the order's currency.
  readonly currency: string
  readonly rate_id: string
}

/**
 * A page of the report. Orders without a click, and held orders, are not in it yet. An order whose
 * click is gone (restored backup) appears without the click's data; leaving it out would make its
 * page look like the last.
 */
export async function listOrderRows(
  db: Db,
  request: ReportRequest,
  releases: Pick<PublisherReleases, 'paidAtOf'>,
): Promise<ReportPage> {
  const { pubId, dayFrom, dayTo, limitRows } = request
  const { day, eventId, line } = readPlace(request.cursor)
  const orders = await db.rows<Omit<OrderLine, keyof ClickEvent> & ClickPlace>(sql`
    with chosen as (
      select ${ORDER_COLUMNS}, line.line, order_product_id,
        (bought.account #>> '{attribution,owner,clickAtMs}')::float8 as clicked_at_ms,
        line.earnings_micros as line_earnings_micros, line.revenue_micros as line_revenue_micros,
        quantity, product_id as purchased_product_id, line.name as purchased_name,
        line.brand as purchased_brand, line.price as purchased_price
      from merchant_order bought join order_line line using (merch_id, order_id)
      where pub_id = ${pubId} and locks_at is not null
        and bought.day between ${dayFrom} and ${dayTo}
        and (bought.day, bought.event_id, line.line)
          > (${day}::date, ${eventId}::bigint, ${line}::smallint)
      order by bought.day, bought.event_id, line.line limit ${limitRows}
    )
    select chosen.*, click.day as click_day, click.event_id as click_event_id,
      coalesce(click.at, to_timestamp(clicked_at_ms / 1000)) as at,
      click.visitor_key, click.session_key, click.auction_id,
      article.url as article_url, article.name as article_name,
      link.is_exclusive, link.is_article_given, offer.product_id,
      offer.category_id, offer.brand, offer.title, offer.price_micros as offer_price_micros,
      merchant.name as merchant_name, publisher.name as publisher_name
    from chosen
    left join click using (click_id)
    join publisher on publisher.pub_id = ${pubId}
    left join smart_link link on link.auction_id = click.auction_id
    left join article on article.article_id = click.article_id
    left join merchant on merchant.merch_id = chosen.merch_id
    ${joinClickedOffer(sql`click`)}
    order by chosen.day, chosen.event_id, line`)
  const rows = await withClickEvents(db, orders)
  const paidAt = await paidAtOfLocked(rows, request.now, releases)
  const rates = await findRatesByIds(
    db,
    rows.map((row) => row.rate_id),
  )
  return {
    rows: rows.map((row) => rowOf(row, { now: request.now, paidAt, rates })),
    next: nextPlace(rows, limitRows, (row) => [row.day, row.event_id, row.line]),
  }
}

/** When each row was paid. Unlocked orders are not paid, so nothing is settled for them. */
async function paidAtOfLocked(
  rows: readonly OrderLine[],
  now: Date,
  releases: Pick<PublisherReleases, 'paidAtOf'>,
): Promise<(row: OrderLine) => number | null> {
  const locked = rows.filter(({ locks_at }) => locks_at <= now)
  const ofMerchant = new Map<number, PaidAt>()
  for (const merchId of new Set(locked.map(({ merch_id }) => merch_id))) {
    ofMerchant.set(merchId, await releases.paidAtOf(merchId))
  }
  return ({ merch_id, order_product_id }) => ofMerchant.get(merch_id)?.(order_product_id) ?? null
}

interface Known {
  readonly now: Date
  readonly paidAt: (row: OrderLine) => number | null
  readonly rates: ReadonlyMap<string, Rate>
}

function rowOf(row: OrderLine, { now, paidAt, rates }: Known): ReportRow<'orders'> {
  const ageMs = row.ordered_at.getTime() - row.at.getTime()
  const paidAtMs = paidAt(row)
  const isPaid = paidAtMs !== null && paidAtMs <= now.getTime()
  const state = stateOfOrder(row, now, isPaid)
  const order = countedAmounts(state, row, {
    revenue: row.revenue_micros,
    earnings: row.earnings_micros,
  })
  const line = countedAmounts(state, row, {
    revenue: row.line_revenue_micros,
    earnings: row.line_earnings_micros,
  })
  return {
    order_product_id: { text: row.order_product_id },
    product_id: row.product_id,
    order_id: row.event_id,
    checkout_timestamp: reportTime(row.ordered_at),
    cookie_id: cookieId(row),
    article_url: { text: row.article_url },
    link_id: row.auction_id,
    referrer: { text: row.referrer },
    user_agent: userAgent(row),
    network_type: row.model === MODEL.cpa ? 'Souk - Returns Apply' : 'Souk - No returns',
    click_product_url: { text: row.url },
    click_product_category: row.category_id,
    click_is_brand_page: isBrandPage(row),
    days_since_attributed_click: Math.max(0, Math.floor(ageMs / DAY_MS)),
    purchased_product_id: { text: row.purchased_product_id },
    purchased_product_name: { text: row.purchased_name },
    purchased_product_brand: { text: row.purchased_brand },
    purchased_product_price: purchasedPrice(row, rates),
    click_u1_param: { text: row.u1 },
    checkout_id: { text: row.order_id },
    // The whole order's amount on each of its rows, as documented.
    earnings: formatExact(order.earningsMicros),
    revenue: formatExact(order.revenueMicros),
    number_products_purchased: row.quantity,
    click_product_brand: { text: row.brand },
    click_product_price: productPrice(row),
    click_product_name: { text: row.title },
    article_name: { text: row.article_name },
    network: networkName(row),
    merchant: { text: row.merchant_name },
    publication: { text: row.publisher_name },
    channel: { text: row.utm_source },
    device_type: deviceName(row),
    country_code: row.country,
    click_id: row.click_id?.toString('hex') ?? null,
    click_timestamp: reportTime(row.at),
    line_earnings: formatExact(line.earningsMicros),
    line_revenue: formatExact(line.revenueMicros),
    state,
    locks_at: reportTime(row.locks_at),
  }
}

/** In dollars like every amount of the row, at the rate of the order's conversion. */
function purchasedPrice(
  { purchased_price: price, currency, rate_id, day }: OrderLine,
  rates: ReadonlyMap<string, Rate>,
): string | null {
  const rate = rate_id === DOLLAR_RATE_ID ? dollarRate(day) : rates.get(rate_id)
  const exponent = ISO_4217.get(currency) ?? null
  if (price === null || exponent === null || rate === undefined) return null
  const minor = parseMinor(price, exponent)
  const micros = minor === null ? null : toMicros(minor, exponent, rate)
  return micros === null ? null : formatExact(micros)
}
