/**
 * Orders as they are known right now: what the fold has written, and what lies in the log behind
 * it. Only to answer a merchant at once; the fold judges for itself.
 */
import { EVENT_TYPE, MONEY_LANE } from '../events/event.ts'
import { firstUnfoldedDay } from '../events/unfolded-days-store.ts'
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import { type OrderEvent, tellEvent } from './order-event.ts'
import { emptyOrder, findOrders, keyText, type OrderRecord } from './order-store.ts'

/** The fold is seconds behind; when it is further, an answer at once is not worth the reading. */
const PENDING_EVENTS_MAX = 10_000

/**
 * The orders of a merchant by `keyText`; those that nobody has told of are missing.
 *
 * What is pending is read first. So every event is in one of the two or, when it is folded in
 * between, in both, and telling it again changes nothing.
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
    // Without attribution: quantities do not depend on it.
    const account = tellEvent(record.account, { ...event, atMs: at.getTime() })
    orders.set(keyText(key), { ...record, account })
  }
  return orders
}
