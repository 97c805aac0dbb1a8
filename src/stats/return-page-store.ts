/** Lists the returns of a publisher's orders, newest first, each on its own day. */

import { isCancelledSale } from '../orders/order-view.ts'
import { cutPage, PAGE_ROWS_READ } from '../platform/http/page.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import type { ReturnEntry, ReturnPage } from './dashboard-schema.ts'
import type { DayRange } from './day-range.ts'
import { EFFECTIVE_DAY, returnsOf } from './returned-goods-store.ts'

interface ReturnRow {
  readonly return_event_id: string
  readonly return_id: string
  readonly took_effect_at: Date
  readonly order_event_id: string
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
  readonly cursor: string | null // the last return on the previous page
}

/** As in the returns report, but one entry per return, whatever lines it covers. */
export async function readReturnPage(
  db: Db,
  { cursor, ...range }: ReturnPageRequest,
): Promise<ReturnPage> {
  const { from, where } = returnsOf(range)
  const before =
    cursor === null
      ? sql`true`
      : sql`(effective_day, return_event_id) < (
          select effective_day, return_event_id from effective where return_event_id = ${cursor})`
  const rows = await db.rows<ReturnRow>(sql`
    with effective as (
      select ${EFFECTIVE_DAY} as effective_day, back.event_id as return_event_id, return_id,
        greatest(back.accepted_at, bought.accepted_at) as took_effect_at, back.quantity,
        merch_id, order_id
      from ${from} where ${where}
    ), page as (
      select * from effective where ${before}
      order by effective_day desc, return_event_id desc limit ${PAGE_ROWS_READ}
    )
    select page.*, bought.event_id as order_event_id, ordered_at, taken.earnings_micros,
      case when ${isCancelledSale(sql`bought`)} then 0 else taken.revenue_micros end
        as revenue_micros, result_number,
      article.name as article_name, article.url as article_url, merchant.name as merchant_name
    from page
    join merchant_order bought using (merch_id, order_id)
    join lateral (
      select sum(revenue_micros) as revenue_micros, sum(earnings_micros) as earnings_micros
      from order_return_line part
      where (part.merch_id, part.order_id, part.return_id)
        = (page.merch_id, page.order_id, page.return_id)
    ) taken on true
    left join click using (click_id)
    left join article on article.article_id = bought.article_id
    left join merchant on merchant.merch_id = page.merch_id
    order by effective_day desc, return_event_id desc`)
  const page = cutPage(rows, (row) => row.return_event_id)
  return { returns: page.rows.map(toReturnEntry), next: page.next }
}

function toReturnEntry(row: ReturnRow): ReturnEntry {
  return {
    order_id: row.order_event_id,
    checkout_id: row.order_id,
    return_id: row.return_id,
    at: formatTimestamp(row.took_effect_at),
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
