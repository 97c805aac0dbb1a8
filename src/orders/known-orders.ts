/**
 * The current state of orders: what the fold has written, plus the log behind it. Used only for
 * immediate answers to a merchant; the fold judges on its own.
 */
import { clickIdBytes } from '../events/click-id.ts'
import { EVENT_TYPE, type LogEvent, MONEY_LANE } from '../events/event.ts'
import { firstUnfoldedDay } from '../events/unfolded-days-store.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import { applyEvent, type OrderEvent } from './order-event.ts'
import { emptyOrder, findOrders, keyText, type OrderRecord } from './order-store.ts'

/**
 * The fold is seconds behind. If it is further, reading the rest is not worth an immediate answer.
 */
const PENDING_EVENTS_MAX = 10_000

/**
 * The orders of a merchant by `keyText`; unknown ones are missing.
 *
 * Pending events are read first. An event folded in between is then in both parts, and applying it
 * twice changes nothing.
 */
export async function findKnownOrders(
  db: Db,
  wanted: { readonly merchId: number; readonly orderIds: readonly string[] },
): Promise<Map<string, OrderRecord>> {
  const { merchId, orderIds } = wanted
  if (orderIds.length === 0) return new Map()
  const dayFrom = await firstUnfoldedDay(db, [MONEY_LANE])
  const pending = await db.rows<OrderEvent & { readonly at: Date }>(sql`
    select type, id, at, body from (
      select type, id, at, body, merch_id from event
      where lane = ${MONEY_LANE} and day >= ${dayFrom}
        and seq > (select position from lane where lane = ${MONEY_LANE})
      order by seq limit ${PENDING_EVENTS_MAX}
    ) as behind
    where merch_id = ${merchId}
      and type in (${EVENT_TYPE.order}, ${EVENT_TYPE.orderReturn}, ${EVENT_TYPE.orderDecision})
      and body->>'order_id' = any(${orderIds}::text[])`)
  const orders = await findOrders(
    db,
    orderIds.map((orderId) => ({ merchId, orderId })),
  )
  for (const { at, ...event } of pending) {
    const key = { merchId, orderId: event.body.order_id }
    const record = orders.get(keyText(key)) ?? emptyOrder(key)
    // Without attribution, because quantities do not depend on it.
    const account = applyEvent(record.account, { ...event, atMs: at.getTime() })
    orders.set(keyText(key), { ...record, account })
  }
  return orders
}

/** First key of the advisory locks; the second is an order, hashed. */
const ORDER_LOCK = 1_918_858_868

/** Locks orders (by `keyText`) until the transaction ends, always in the same order. */
export async function lockOrders(tx: Db, keys: readonly string[]): Promise<void> {
  await tx.run(sql`
    select pg_advisory_xact_lock(${ORDER_LOCK}::int, hash)
    from (
      select distinct hashtext(key) as hash from unnest(${keys}::text[]) as key order by hash
    ) as wanted`)
}

/** Whether the log's table contains all of these events. */
export async function areLogged(db: Db, events: readonly LogEvent[]): Promise<boolean> {
  const row = await db.row<{ count: number }>(sql`
    select count(*)::int as count from event
    where day = any(${events.map(({ atMs }) => utcDay(atMs))}::date[])
      and id = any(${events.map(({ id }) => id)}::bigint[])`)
  return row?.count === events.length
}

/** Which of these click ids (hex) are clicks on the merchant, folded or not. */
export async function findKnownClicks(
  db: Db,
  { merchId, clickIds }: { readonly merchId: number; readonly clickIds: readonly string[] },
): Promise<ReadonlySet<string>> {
  if (clickIds.length === 0) return new Set()
  const dayFrom = await firstUnfoldedDay(db, [MONEY_LANE])
  const ids = sql`${clickIdBytes(clickIds)}::bytea[]`
  const rows = await db.rows<{ click_id: Buffer }>(sql`
    select click_id from (
      select click_id, type, merch_id from event
      where lane = ${MONEY_LANE} and day >= ${dayFrom}
        and seq > (select position from lane where lane = ${MONEY_LANE})
      order by seq limit ${PENDING_EVENTS_MAX}
    ) as behind
    where type = ${EVENT_TYPE.click} and merch_id = ${merchId} and click_id = any(${ids})
    union all
    select click_id from click where merch_id = ${merchId} and click_id = any(${ids})`)
  return new Set(rows.map((row) => row.click_id.toString('hex')))
}
