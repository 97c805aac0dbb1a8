/** What came back of a publisher's orders, newest first: on its own day, as the figures have it. */
import { formatExact } from '../platform/money.ts'
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import { formatTimestamp } from '../platform/timestamp.ts'
import { isCancelledSale } from './cancelled-sale-store.ts'
import type { ReturnEntry, ReturnPage } from './dashboard-schema.ts'
import type { DayRange } from './day-range.ts'
import { effectiveReturns } from './effective-returns-store.ts'

/** A screen or three. */
const PAGE_ROWS = 100

interface ReturnRow {
  readonly event_id: string
  readonly at: Date
  readonly return_id: string
  readonly order_id: string
  readonly ordered_at: Date
  readonly article_name: string | null
  readonly article_url: string | null
  readonly merchant_name: string | null
  readonly quantity: number
  readonly revenue_micros: string
  readonly earnings_micros: string
  readonly result_number: Buffer | null
}

export interface ReturnPageRequest extends DayRange {
  readonly cursor: string | null // the last return seen
}

/** As in the returns report, but one entry a return, whatever lines of its order it is of. */
export async function readReturnPage(
  db: Db,
  { cursor, ...range }: ReturnPageRequest,
): Promise<ReturnPage> {
  const before =
    cursor === null
      ? sql`true`
      : sql`(effective_day, event_id)
          < (select effective_day, event_id from returned where event_id = ${cursor})`
  const rows = await db.rows<ReturnRow>(sql`
    with effective as (${effectiveReturns(range)}), returned as (
      select effective_day, back.event_id, greatest(back.accepted_at, bought.accepted_at) as at,
        bought.merch_id, bought.order_id, back.return_id, ordered_at,
        click_id, article_id,
        sum(part.quantity)::int as quantity, sum(part.earnings_micros) as earnings_micros,
        case when ${isCancelledSale(sql`bought`)} then 0 else sum(part.revenue_micros) end
          as revenue_micros
      from effective
      join merchant_order bought using (merch_id, order_id)
      join order_return back using (merch_id, order_id, return_id)
      join order_return_line part using (merch_id, order_id, return_id)
      group by effective_day, bought.merch_id, bought.order_id,
        back.merch_id, back.order_id, back.return_id
    )
    select page.*, result_number,
      article.name as article_name, article.url as article_url, merchant.name as merchant_name
    from (
      select * from returned where ${before}
      order by effective_day desc, event_id desc limit ${PAGE_ROWS + 1}
    ) as page
    left join click using (click_id)
    left join article on article.article_id = page.article_id
    left join merchant on merchant.merch_id = page.merch_id
    order by effective_day desc, page.event_id desc`)
  const page = rows.slice(0, PAGE_ROWS)
  return {
    returns: page.map(toReturnEntry),
    next: rows.length > PAGE_ROWS ? (page.at(-1)?.event_id ?? null) : null,
  }
}

function toReturnEntry(row: ReturnRow): ReturnEntry {
  return {
    return_id: row.return_id,
    checkout_id: row.order_id,
    at: formatTimestamp(row.at),
    ordered_at: formatTimestamp(row.ordered_at),
    article_name: row.article_name,
    article_url: row.article_url,
    merchant_name: row.merchant_name,
    quantity: row.quantity,
    revenue: formatExact(-BigInt(row.revenue_micros)),
    earnings: formatExact(-BigInt(row.earnings_micros)),
    auction_result_number: row.result_number?.toString('hex') ?? null,
  }
}
