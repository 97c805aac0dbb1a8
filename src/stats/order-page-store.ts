/**
 * Lists a publisher's orders for the dashboard, newest first, with earnings and the click behind
 * them.
 */

import { modelWord } from '../events/event.ts'
import { orderState } from '../orders/order-states.ts'
import { cutPage, PAGE_ROWS_READ } from '../platform/http/page.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { isCancelledSale } from './cancelled-sale-store.ts'
import type { OrderEntry, OrderPage } from './dashboard-schema.ts'
import type { DayRange } from './day-range.ts'

export interface OrderPageRequest extends DayRange {
  readonly cursor: string | null // the last order seen
  readonly now: Date // states are as of this time
}

interface OrderRow {
  readonly event_id: string
  readonly order_id: string
  readonly accepted_at: Date
  readonly locks_at: Date
  readonly rejected_at: Date | null
  readonly reject_reason: string | null
  readonly model: number
  readonly is_cancelled: boolean
  readonly revenue_micros: string
  readonly earnings_micros: string
  readonly net_earnings_micros: string
  readonly result_number: Buffer | null
  readonly article_name: string | null
  readonly article_url: string | null
  readonly merchant_name: string | null
}

/** As in the orders report: excludes orders without a click, and held orders. */
export async function readOrderPage(db: Db, request: OrderPageRequest): Promise<OrderPage> {
  const { pubId, dayFrom, dayTo, cursor, now } = request
  const before =
    cursor === null
      ? sql`true`
      : sql`(o.day, o.event_id)
          < ((select day from merchant_order where event_id = ${cursor}), ${cursor}::bigint)`
  const rows = await db.rows<OrderRow>(sql`
    select o.event_id, o.order_id, accepted_at, locks_at, rejected_at, reject_reason, o.model,
      ${isCancelledSale(sql`o`)} as is_cancelled, revenue_micros, earnings_micros,
      net_earnings_micros, result_number,
      article.name as article_name, article.url as article_url, merchant.name as merchant_name
    from merchant_order o
    left join click using (click_id)
    left join article on article.article_id = o.article_id
    left join merchant on merchant.merch_id = o.merch_id
    where o.pub_id = ${pubId} and locks_at is not null
      and o.day between ${dayFrom} and ${dayTo} and ${before}
    order by o.day desc, o.event_id desc limit ${PAGE_ROWS_READ}`)
  const page = cutPage(rows, (row) => row.event_id)
  return { orders: page.rows.map((row) => toOrderEntry(row, now)), next: page.next }
}

function toOrderEntry(row: OrderRow, now: Date): OrderEntry {
  const dates = {
    locksAtMs: row.locks_at.getTime(),
    rejectedAtMs: row.rejected_at?.getTime() ?? null,
    paidAtMs: null, // The statements show whether the merchant has paid.
  }
  const state = orderState(dates, now.getTime())
  // A rejected order is worth nothing, as in the report.
  const amount = (micros: bigint | string) => formatExact(state === 'REJECTED' ? 0 : micros)
  return {
    order_id: row.event_id,
    checkout_id: row.order_id,
    at: formatTimestamp(row.accepted_at),
    article_name: row.article_name,
    article_url: row.article_url,
    merchant_name: row.merchant_name,
    model: modelWord(row.model),
    state,
    locks_at: formatTimestamp(row.locks_at),
    reject_reason: row.reject_reason,
    is_cancelled: row.is_cancelled,
    revenue: row.is_cancelled ? formatExact(0) : amount(row.revenue_micros),
    earnings: amount(row.earnings_micros),
    returned: amount(BigInt(row.earnings_micros) - BigInt(row.net_earnings_micros)),
    auction_result_number: row.result_number?.toString('hex') ?? null,
  }
}
