/**
 * Lists a publisher's clicks for the dashboard, newest first, with earnings or the reason for none.
 */

import { REASON, reasonName } from '../events/reason.ts'
import { explainReason } from '../events/reason-words.ts'
import { cutPage, PAGE_ROWS_READ } from '../platform/http/page.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { RESERVED_FIRST, RESULT_CLICKS_MAX } from './click-store.ts'
import { CLICK_COLUMNS, type ClickRow, readClick } from './click-view.ts'
import { joinClickedOffer } from './clicked-offer-store.ts'
import type { ClickEntry, ClickPage, ReasonCount } from './dashboard-schema.ts'
import type { DayRange } from './day-range.ts'

export interface ClickPageRequest extends DayRange {
  readonly outcome: 'counted' | 'unpaid' | null // null: all
  readonly cursor: string | null // the last event on the previous page
}

interface ListedClick extends ClickRow {
  readonly article_name: string | null
  readonly article_url: string | null
  readonly merchant_name: string | null
  readonly product_name: string | null
}

/** A click that was paid and later reversed counts as reversed. */
const VERDICT = sql`case when reversed_at is null then reason else ${REASON.reversed} end`

export async function readClickPage(db: Db, request: ClickPageRequest): Promise<ClickPage> {
  const { outcome, cursor } = request
  const wanted =
    outcome === null
      ? sql`true`
      : outcome === 'counted'
        ? sql`${VERDICT} = ${REASON.ok}`
        : sql`${VERDICT} <> ${REASON.ok}`
  const before = cursor === null ? sql`true` : beforeClick(cursor)
  const rows = await db.rows<ListedClick>(sql`
    ${SELECT_CLICKS} where ${ofRange(request)} and ${wanted} and ${before}
    order by click.day desc, event_id desc limit ${PAGE_ROWS_READ}`)
  const page = cutPage(rows, (row) => row.event_id)
  return {
    clicks: page.rows.map(toClickEntry),
    next: page.next,
    reasons: cursor === null ? await countByReason(db, ofRange(request)) : [],
  }
}

/** The clicks on one auction result. */
export async function listClickEntries(
  db: Db,
  { pubId, resultNumber }: { pubId: number; resultNumber: Buffer },
): Promise<ClickEntry[]> {
  const rows = await db.rows<ListedClick>(sql`
    ${SELECT_CLICKS} where click.pub_id = ${pubId} and result_number = ${resultNumber}
    ${RESERVED_FIRST} limit ${RESULT_CLICKS_MAX}`)
  return rows.map(toClickEntry)
}

const SELECT_CLICKS = sql`
  select ${CLICK_COLUMNS}, article.name as article_name, article.url as article_url,
    merchant.name as merchant_name, offer.title as product_name
  from click
  left join article on article.article_id = click.article_id
  left join merchant on merchant.merch_id = click.merch_id
  ${joinClickedOffer(sql`click`)}`

/**
 * The index starts with the day. Event ids grow with time too, but with them alone PostgreSQL scans
 * every publisher's clicks: one second for 100 unpaid clicks of a year.
 */
function beforeClick(eventId: string): Sql {
  return sql`
    (click.day, event_id) < (
      (select day from click where event_id = ${eventId}), ${eventId}::bigint)`
}

function ofRange({ pubId, dayFrom, dayTo }: DayRange): Sql {
  return sql`click.pub_id = ${pubId} and click.day between ${dayFrom} and ${dayTo}`
}

/** The number of clicks by verdict, valid ones first, among those that match a condition. */
export async function countByReason(db: Db, isWanted: Sql): Promise<ReasonCount[]> {
  const rows = await db.rows<{ verdict: number; clicks: string }>(sql`
    select ${VERDICT} as verdict, count(*) as clicks from click where ${isWanted}
    group by verdict order by bool_or(${VERDICT} <> ${REASON.ok}), clicks desc, verdict`)
  return rows.map(({ verdict, clicks }) => ({
    reason: reasonName(verdict),
    why: explainReason(verdict),
    clicks: Number(clicks),
  }))
}

function toClickEntry(row: ListedClick): ClickEntry {
  const click = readClick(row)
  return {
    click_id: click.clickId,
    at: formatTimestamp(row.at),
    auction_id: row.auction_id,
    auction_result_number: click.resultNumber,
    article_name: row.article_name,
    article_url: row.article_url,
    merchant_name: row.merchant_name,
    product_name: row.product_name,
    model: click.terms.model,
    price: formatExact(click.pricePerClickMicros),
    paid: formatExact(click.merchantCostMicros),
    earnings: formatExact(click.earnedMicros),
    is_counted: click.isCounted,
    reason: click.reason,
    why: click.why,
  }
}
