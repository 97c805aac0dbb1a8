/**
 * Lists a publisher's orders for the dashboard, newest first, with earnings and the click behind
 * them.
 */

import { modelWord } from '../events/event.ts'
import { countedAmounts, ORDER_COLUMNS, type OrderRow, stateOfOrder } from '../orders/order-view.ts'
import { cutPage, PAGE_ROWS_READ } from '../platform/http/page.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import type { OrderEntry, OrderPage } from './dashboard-schema.ts'
import type { DayRange } from './day-range.ts'

export interface OrderPageRequest extends DayRange {
  readonly cursor: string | null // the last order seen
  readonly now: Date // states are as of this time
}

interface ListedOrder extends OrderRow {
  readonly event_id: string
  readonly accepted_at: Date
  readonly locks_at: Date
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
      : sql`(bought.day, bought.event_id)
          < ((select day from merchant_order where event_id = ${cursor}), ${cursor}::bigint)`
  const rows = await db.rows<ListedOrder>(sql`
    select ${ORDER_COLUMNS}, result_number, article.name as article_name,
      article.url as article_url, merchant.name as merchant_name
    from merchant_order bought
    left join click using (click_id)
    left join article on article.article_id = bought.article_id
    left join merchant on merchant.merch_id = bought.merch_id
    where bought.pub_id = ${pubId} and locks_at is not null
      and bought.day between ${dayFrom} and ${dayTo} and ${before}
    order by bought.day desc, bought.event_id desc limit ${PAGE_ROWS_READ}`)
  const page = cutPage(rows, (row) => row.event_id)
  return { orders: page.rows.map((row) => toOrderEntry(row, now)), next: page.next }
}

function toOrderEntry(row: ListedOrder, now: Date): OrderEntry {
  const state = stateOfOrder(row, now, false) // The statements show whether the merchant has paid.
  const { revenueMicros, earningsMicros } = countedAmounts(state, row, {
    revenue: row.revenue_micros,
    earnings: row.earnings_micros,
  })
  const returnedMicros = BigInt(row.earnings_micros) - BigInt(row.net_earnings_micros)
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
    is_cancelled: row.is_cancelled_sale,
    revenue: formatExact(revenueMicros),
    earnings: formatExact(earningsMicros),
    returned: formatExact(state === 'REJECTED' ? 0 : returnedMicros),
    auction_result_number: row.result_number?.toString('hex') ?? null,
  }
}
