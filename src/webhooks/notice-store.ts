/** The data of notifications, in SQL. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

type NoticeSource = 'changes' | 'locks'

export interface NoticePosition {
  readonly changeId: string // For locks: the event of the last notified order.
  readonly at: Date
}

/** How far a source was read. */
export async function readNoticePosition(db: Db, name: NoticeSource): Promise<NoticePosition> {
  const row = await db.row<{ change_id: string; at: Date }>(sql`
    select change_id, at from notice_position where name = ${name}`)
  if (row === null) throw new Error(`notice_position lacks ${name}`)
  return { changeId: row.change_id, at: row.at }
}

export async function moveNoticePosition(
  db: Db,
  name: NoticeSource,
  { changeId, at }: NoticePosition,
): Promise<void> {
  await db.run(sql`
    update notice_position set change_id = ${changeId}, at = ${at}
    where name = ${name}`)
}

/** The change of an order, in micros. */
export interface Change {
  readonly change_revenue: string
  readonly change_commission: string
  readonly change_earnings: string
}

/** An order's amounts after all returns so far, in micros. */
export interface NetAmounts {
  readonly net_revenue_micros: string
  readonly net_commission_micros: string
  readonly net_earnings_micros: string
}

export interface ChangedOrder extends Change, NetAmounts {
  readonly cause: string
  readonly event_id: string
  readonly order_event_id: string
  readonly order_id: string
  readonly merch_id: number
  readonly pub_id: number
  readonly article_id: number
  readonly click_id: Buffer
  readonly locks_at: Date | null // Null if it waits for a decision again.
}

/** Orders that started to count, or had returns, in the next changes; and how far that reaches. */
export async function listChangedOrders(
  db: Db,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly orders: ChangedOrder[]; readonly lastId: string | null }> {
  // The days as values, so that the planner does not consider every day of the log.
  const next = await db.row<{ last_id: string | null; days: string[] }>(sql`
    select max(change_id) as last_id, array_agg(distinct day::text) as days from (
      select change_id, day from stats_change where change_id > ${after}
      order by change_id limit ${limit}
    ) as next`)
  const lastId = next?.last_id ?? null
  if (next === null || lastId === null) return { orders: [], lastId }
  const orders = await db.rows<ChangedOrder>(sql`
    select cause, event.id as event_id, bought.event_id as order_event_id, bought.order_id,
      bought.merch_id, bought.pub_id, bought.article_id, bought.click_id, bought.locks_at,
      bought.net_revenue_micros, bought.net_commission_micros, bought.net_earnings_micros,
      case when cause = 'return' then -coalesce(back.revenue, 0) else bought.revenue_micros end
        as change_revenue,
      case when cause = 'return' then -coalesce(back.commission, 0)
        else bought.commission_micros end as change_commission,
      case when cause = 'return' then -coalesce(back.earnings, 0) else bought.earnings_micros end
        as change_earnings
    from stats_change change
    cross join unnest(change.event_ids) as caused (id)
    -- Looked up: a plain join may be planned as one that reads every day of the log in order.
    join lateral (
      select id, merch_id, at, body from event
      where event.day = change.day and event.id = caused.id
        and event.day = any(${next.days}::date[]) limit 1
    ) as event on true
    join merchant_order bought on bought.merch_id = event.merch_id
      and bought.order_id = event.body->>'order_id'
    left join lateral (
      select sum(part.revenue_micros) as revenue, sum(part.commission_micros) as commission,
        sum(part.earnings_micros) as earnings
      from order_return_line part
      where part.merch_id = bought.merch_id and part.order_id = bought.order_id
        and part.return_id = event.body->>'return_id'
    ) as back on true
    where change_id > ${after} and change_id <= ${lastId} and bought.pub_id = change.pub_id
      and (cause in ('order', 'return') or (cause = 'revision' and (
        change.sales > 0 -- It came back, or moved here from another article.
        or to_timestamp((bought.account->>'attributedAtMs')::float8 / 1000) = event.at -- or only click
      )))
    order by change_id, event.id`)
  return { orders, lastId }
}

/** All returns of these orders, however old. */
export function listReturnsOf(
  db: Db,
  orderEventIds: readonly string[],
): Promise<readonly ChangedOrder[]> {
  if (orderEventIds.length === 0) return Promise.resolve([])
  return db.rows(sql`
    select 'return' as cause, back.event_id, bought.event_id as order_event_id, order_id, merch_id,
      pub_id, article_id, click_id, locks_at, net_revenue_micros, net_commission_micros,
      net_earnings_micros, -sum(part.revenue_micros) as change_revenue,
      -sum(part.commission_micros) as change_commission,
      -sum(part.earnings_micros) as change_earnings
    from merchant_order bought
    join order_return back using (merch_id, order_id)
    join order_return_line part using (merch_id, order_id, return_id)
    where bought.event_id = any(${orderEventIds}::bigint[]) and bought.pub_id is not null
    group by merch_id, order_id, back.event_id
    order by back.event_id`)
}

export type LockedOrder = Omit<ChangedOrder, keyof Change | 'locks_at'> & {
  readonly locks_at: Date
}

/**
 * The next orders whose earnings locked, even if a later report is held; within one instant by
 * event id.
 */
export function listLockedOrders(
  db: Db,
  {
    after,
    until,
    limit,
  }: {
    readonly after: NoticePosition
    readonly until: Date
    readonly limit: number
  },
): Promise<LockedOrder[]> {
  return db.rows(sql`
    select 'lock' as cause, event_id, event_id as order_event_id, order_id, merch_id, pub_id,
      article_id, click_id, locks_at, net_revenue_micros, net_commission_micros,
      net_earnings_micros
    from merchant_order
    where (locks_at, event_id) > (${after.at}::timestamptz, ${after.changeId}::bigint)
      and locks_at <= ${until} and pub_id is not null and rejected_at is null
    order by locks_at, event_id limit ${limit}`)
}
