/**
 * Rows imported from other networks. They are collected, and shown together when their partition is
 * complete. A partition contains what one account of a network reported for one day.
 */
import type { StoredEvent } from '../events/event.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

/** The body of a networkRow event: one row, or the end of a partition. */
export type NetworkBody = NetworkRowBody | NetworkPartitionBody

export interface NetworkRowBody {
  readonly kind: 'row'
  readonly import_id: string // 64-bit, one per partition and import
  readonly row: number
  readonly report_date: string
  readonly article_id: number // 0: the network does not name one
  readonly advertiser: string | null
  readonly clicks: number
  readonly sales: number
  readonly revenue_micros: number
  readonly earnings_micros: number
  // The identity of the report's line; absent if the report does not state it.
  readonly transaction_id?: string | null
  readonly original_id?: string | null
  readonly order_id?: string | null
  readonly item?: string | null
  readonly posted?: string | null
  readonly amounts?: string | null // of the sale and of the earnings, as the report states them
  readonly are_sales_reported?: boolean
}

export interface NetworkPartitionBody {
  readonly kind: 'partition'
  readonly import_id: string
  readonly network: string
  readonly account: string
  readonly report_date: string
  readonly rows: number
  readonly rows_hash: string // hex
}

export async function foldNetworks(tx: Db, events: readonly StoredEvent[]): Promise<void> {
  const parsed = events.map((event) => ({
    event,
    body: JSON.parse(event.body ?? 'null') as NetworkBody,
  }))
  const rows = parsed.flatMap(({ event, body }) =>
    body.kind === 'row' ? [{ ...body, pub_id: event.pubId }] : [],
  )
  await tx.run(sql`
    insert into network_row (import_id, row, pub_id, article_id, report_date, advertiser, clicks,
      sales, revenue_micros, earnings_micros, transaction_id, original_id, order_id, item, posted,
      amounts, are_sales_reported)
    select import_id, row, pub_id, article_id, report_date, advertiser, clicks, sales,
      revenue_micros, earnings_micros, transaction_id, original_id, order_id, item, posted,
      amounts, are_sales_reported
    from jsonb_populate_recordset(null::network_row, ${JSON.stringify(rows)}::jsonb)
    on conflict do nothing`)
  for (const { event, body } of parsed) {
    if (body.kind === 'partition') await showPartition(tx, event, body)
  }
}

/** The previous import ends here. For earlier times (as_of) it stays. */
async function showPartition(
  tx: Db,
  event: StoredEvent,
  body: NetworkPartitionBody,
): Promise<void> {
  const at = new Date(event.atMs)
  await tx.run(sql`
    update network_partition set until = ${at}
    where network = ${body.network} and account = ${body.account}
      and report_date = ${body.report_date} and until is null`)
  await tx.run(sql`
    insert into network_partition
      (network, account, report_date, import_id, rows_hash, rows, event_id, at)
    values (${body.network}, ${body.account}, ${body.report_date}, ${body.import_id},
      ${Buffer.from(body.rows_hash, 'hex')}, ${body.rows}, ${event.id}, ${at})`)
}
