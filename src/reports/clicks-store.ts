/**
 * The clicks report in SQL: for each day one row per click, then one per link impression.
 *
 * Clicks have the fold's verdict, unpaid ones with their reason; impressions come from the log.
 * Both are paged by their ids, which grow with time.
 */
import { EVENT_TYPE, viewLane } from '../events/event.ts'
import { isPerOrder } from '../events/pay-terms.ts'
import { REASON } from '../events/reason.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { CLICK_COLUMNS, type Click, type ClickRow, readClick } from '../stats/click-view.ts'
import { joinClickedOffer } from '../stats/clicked-offer-store.ts'
import {
  type ClickFacts,
  cookieId,
  deviceName,
  isBrandPage,
  isCleanArticleUrl,
  networkName,
  productPrice,
  userAgent,
} from './click-cells.ts'
import { type ClickEvent, type ClickPlace, withClickEvents } from './click-event-store.ts'
import {
  REPORT_START,
  type ReportPage,
  type ReportRequest,
  type ReportRow,
  readPlace,
  reportTime,
  unknownCursor,
} from './report.ts'

interface SeenRow extends ClickFacts {
  readonly event_id: string
  readonly link_source: string | null
  readonly day: string
  readonly click_id: Buffer | null // null: an impression
  readonly result_number: Buffer | null
}

type ListedClick = SeenRow & ClickRow

/** A page of the report. */
export async function listClickRows(db: Db, request: ReportRequest): Promise<ReportPage> {
  const at = readCursor(request.cursor)
  const clicks = at.part === 'click' ? await listClicks(db, request, at) : []
  const isFull = clicks.length === request.limitRows
  if (isFull) return pageOf(clicks, 'click')
  const limitRows = request.limitRows - clicks.length
  const after = at.part === 'click' ? SEEN_START : at
  const seen = await listPart<SeenRow>(db, impressionRows({ ...request, limitRows }, after))
  const page = pageOf([...clicks, ...seen], 'seen')
  return seen.length === limitRows ? page : { ...page, next: null }
}

interface Cursor {
  readonly part: 'click' | 'seen'
  readonly day: string
  readonly eventId: string
}

const SEEN_START: Cursor = { part: 'seen', ...REPORT_START }

/** A cursor is `click 2026-03-02 123` or `seen …`: first all clicks, then all impressions. */
function readCursor(cursor: string | null): Cursor {
  if (cursor === null) return { part: 'click', ...REPORT_START }
  const [part, ...place] = cursor.split(' ')
  if (part !== 'click' && part !== 'seen') throw unknownCursor()
  return { part, ...readPlace(place.join(' ')) }
}

function pageOf(rows: readonly SeenRow[], part: Cursor['part']): ReportPage {
  const last = rows.at(-1)
  return {
    rows: rows.map(rowOf),
    next: last === undefined ? null : `${part} ${last.day} ${last.event_id}`,
  }
}

async function listClicks(db: Db, request: ReportRequest, after: Cursor): Promise<ListedClick[]> {
  const clicks = clickRows(request, after)
  return withClickEvents(
    db,
    await listPart<Omit<ListedClick, keyof ClickEvent> & ClickPlace>(db, clicks),
  )
}

function listPart<T>(db: Db, page: Sql): Promise<T[]> {
  return db.rows<T>(sql`
    with chosen as (${page})
    select chosen.*, article.url as article_url, article.name as article_name,
      link.is_exclusive, link.is_article_given, link.source as link_source, offer.product_id,
      offer.category_id, offer.brand, offer.title, offer.price_micros as offer_price_micros,
      merchant.name as merchant_name, publisher.name as publisher_name
    from chosen
    join publisher using (pub_id)
    left join smart_link link using (auction_id)
    left join article on article.article_id = link.article_id
    left join merchant using (merch_id)
    ${joinClickedOffer(sql`chosen`)}
    order by day, event_id`)
}

function clickRows(request: ReportRequest, { day, eventId }: Cursor): Sql {
  const { pubId, dayFrom, dayTo, limitRows } = request
  return sql`
    select ${CLICK_COLUMNS}, event_id as click_event_id, day as click_day, offer_id,
      offer_generation, visitor_key, session_key
    from click
    where pub_id = ${pubId} and day between ${dayFrom} and ${dayTo}
      and (day, event_id) > (${day}::date, ${eventId}::bigint)
    order by day, event_id limit ${limitRows}`
}

/**
 * Only for the publisher's own links: the node that accepted the event may not have known the
 * link's owner.
 */
function impressionRows(request: ReportRequest, { day, eventId }: Cursor): Sql {
  const { pubId, dayFrom, dayTo, limitRows } = request
  return sql`
    select id as event_id, day, at, pub_id, 0 as merch_id, auction_id, offer_id,
      null::integer as offer_generation, null::bytea as click_id, visitor_key, session_key,
      null::smallint as model, result_number, url, referrer, device, ua_family, country, u1,
      utm_source
    from event join (select auction_id, pub_id from smart_link) as own using (auction_id, pub_id)
    where lane = ${viewLane(pubId)} and type = ${EVENT_TYPE.linkImpression} and pub_id = ${pubId}
      and day between ${dayFrom} and ${dayTo} and reason = ${REASON.ok}
      and (day, id) > (${day}::date, ${eventId}::bigint)
    order by day, id limit ${limitRows}`
}

const isClick = (row: SeenRow | ListedClick): row is ListedClick => row.click_id !== null

function rowOf(row: SeenRow | ListedClick): ReportRow<'clicks'> {
  const click = isClick(row) ? readClick(row) : null
  const earnedMicros = click?.earnedMicros ?? 0n
  return {
    click_id: row.click_id?.toString('hex') ?? null,
    click_timestamp: reportTime(row.at),
    cookie_id: cookieId(row),
    article_url: { text: row.article_url },
    is_clean_article_url: isCleanArticleUrl(row),
    referrer: { text: row.referrer },
    user_agent: userAgent(row),
    is_click: click === null ? 0 : 1,
    click_product_url: { text: click === null ? null : row.url },
    // In cents, as documented; earnings_usd is in dollars.
    earnings: formatExact(earnedMicros * CENTS_PER_DOLLAR),
    click_product_category: row.category_id,
    click_is_brand_page: click === null ? null : isBrandPage(row),
    click_u1_param: { text: row.u1 },
    click_product_brand: { text: row.brand },
    click_product_price: productPrice(row),
    click_product_name: { text: row.title },
    article_name: { text: row.article_name },
    link_id: row.auction_id,
    network: click === null ? 'CPM' : networkName(row),
    merchant: { text: row.merchant_name },
    publication: { text: row.publisher_name },
    link_type: row.is_exclusive ? 'exclusive' : 'open',
    channel: { text: row.utm_source },
    device_type: deviceName(row),
    country_code: row.country,
    link_source: row.link_source,
    earnings_usd: formatExact(earnedMicros),
    is_billable: String(click?.isBillable ?? false),
    unbillable_reason: click === null ? null : unbillableReason(click),
    auction_result_number: row.result_number?.toString('hex') ?? null,
  }
}

/** Why the click itself costs nobody anything; null if it does cost. */
function unbillableReason({ isCounted, isBillable, reason, terms }: Click): string | null {
  if (!isCounted) return reason
  if (isBillable) return null
  return isPerOrder(terms) ? 'paid_per_order' : 'no_bidder'
}

const CENTS_PER_DOLLAR = 100n
