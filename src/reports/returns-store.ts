/** The returns report in SQL: one row per returned product, on the day the return took effect. */
import { isCancelledSale } from '../orders/order-view.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { EFFECTIVE_DAY, returnsOf } from '../stats/returned-goods-store.ts'
import {
  nextPlace,
  type ReportPage,
  type ReportRequest,
  type ReportRow,
  readPlace,
  reportTime,
} from './report.ts'

interface ReturnRow {
  readonly effective_day: string
  readonly event_id: string
  readonly line: number
  readonly order_product_id: string
  readonly ordered_at: Date
  readonly product_id: string | null
  readonly order_id: string
  readonly merchant_name: string | null
  readonly publisher_name: string
  readonly revenue_micros: string
  readonly earnings_micros: string
  readonly quantity: number
  readonly returned_at: Date
  readonly return_id: string
}

/** A page of the report. A return that arrived before its order took effect with the order. */
export async function listReturnRows(db: Db, request: ReportRequest): Promise<ReportPage> {
  const { pubId, dayFrom, dayTo, limitRows } = request
  const { day, eventId, line } = readPlace(request.cursor)
  const { from, where } = returnsOf({ pubId, dayFrom, dayTo })
  const rows = await db.rows<ReturnRow>(sql`
    select * from (
      select ${EFFECTIVE_DAY} as effective_day, back.event_id, part.line,
        order_product_id, ordered_at, bought_line.product_id, bought.order_id,
        merchant.name as merchant_name, publisher.name as publisher_name,
        case when ${isCancelledSale(sql`bought`)} then 0 else part.revenue_micros end
          as revenue_micros, part.earnings_micros,
        part.quantity, returned_at, return_id
      from ${from}
      join order_return_line part using (merch_id, order_id, return_id)
      join order_line bought_line on bought_line.merch_id = part.merch_id
        and bought_line.order_id = part.order_id and bought_line.line = part.line
      join publisher using (pub_id)
      left join merchant on merchant.merch_id = bought.merch_id
      where ${where}
    ) as returned
    where (effective_day, event_id, line) > (${day}::date, ${eventId}::bigint, ${line}::smallint)
    order by effective_day, event_id, line limit ${limitRows}`)
  return {
    rows: rows.map(rowOf),
    next: nextPlace(rows, limitRows, (row) => [row.effective_day, row.event_id, row.line]),
  }
}

function rowOf(row: ReturnRow): ReportRow<'returns'> {
  return {
    order_product_id: { text: row.order_product_id },
    checkout_timestamp: reportTime(row.ordered_at),
    purchased_product_id: { text: row.product_id },
    checkout_id: { text: row.order_id },
    merchant: { text: row.merchant_name },
    publication: { text: row.publisher_name },
    return_revenue: formatExact(-BigInt(row.revenue_micros)),
    return_earnings: formatExact(-BigInt(row.earnings_micros)),
    return_quantity: 0 - row.quantity, // 0 of an amount: never -0
    return_datetime: reportTime(row.returned_at),
    return_id: { text: row.return_id },
  }
}
