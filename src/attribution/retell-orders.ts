/**
 * Orders that came into the log before the click they name are told again, now that it is there.
 *
 * While the log is away each node keeps what it accepts, and brings it when the log is back: an
 * order from one node may then lie before its click from another, and nobody would be paid for it.
 * The very report is repeated as an event of its own, so the log says when it was found whom the
 * order is owed to; fold and reconciliation know nothing more than that it was told twice.
 */
import { REPORT_PATIENCE_MS } from '../events/durable-append.ts'
import { EVENT_TYPE, type LogEvent, MONEY_LANE, newEvent } from '../events/event.ts'
import { DAY_MS, utcDay } from '../platform/timestamp.ts'
import type { IntakeDeps } from './intake.ts'
import {
  findBodies,
  findClicks,
  listOrdersOfUnknownClicks,
  type OrderRecord,
} from './order-store.ts'
import type { OrderBody } from './read-order.ts'

/** A node that was down brings its clicks when it starts again. */
const LATE_DAYS = 7
const ORDERS_PER_ROUND = 500 // One batch of the event log.

/** Tells again what names clicks that have come since; the number of reports. */
export async function retellOrders(deps: IntakeDeps): Promise<number> {
  const since = new Date(deps.now() - LATE_DAYS * DAY_MS)
  let retold = 0
  let after = { merchId: 0, orderId: '' }
  for (;;) {
    const page = { since, after, limit: ORDERS_PER_ROUND }
    const orders = await listOrdersOfUnknownClicks(deps.db, page)
    const last = orders.at(-1)
    if (last === undefined) return retold
    retold += await retellRound(deps, { orders, day: utcDay(since.getTime()) })
    after = last
  }
}

async function retellRound(
  deps: IntakeDeps,
  { orders, day }: { readonly orders: readonly OrderRecord[]; readonly day: string },
): Promise<number> {
  const clicks = await findClicks(deps.db, [...new Set(orders.flatMap(unknownClicksOf))])
  const found = orders.filter((order) => unknownClicksOf(order).some((id) => clicks.has(id)))
  const bodies = await findBodies(deps.db, { day, eventIds: found.flatMap(reportsOf) })
  const atMs = deps.now()
  const shared = { atMs, lane: MONEY_LANE, type: EVENT_TYPE.order }
  const events: LogEvent[] = found.flatMap((order) =>
    reportsOf(order).flatMap((eventId) => {
      const body = bodies.get(eventId)
      if (body === undefined || !clickIdsOf(body).some((id) => clicks.has(id))) return []
      return newEvent({ ...shared, id: deps.nextId(), merchId: order.merchId, body })
    }),
  )
  await deps.append(events, { patienceMs: REPORT_PATIENCE_MS })
  return events.length
}

function unknownClicksOf({ account }: OrderRecord): string[] {
  return account.evidence.flatMap(({ id, verdict }) => (verdict === 'unknown_click' ? id : []))
}

function reportsOf({ account }: OrderRecord): string[] {
  return Object.values(account.reports).map(({ event_id }) => event_id)
}

function clickIdsOf(body: string): string[] {
  const { exact_click_id: exact, remembered_click_ids: remembered } = JSON.parse(body) as OrderBody
  return exact === null ? [...remembered] : [exact, ...remembered]
}
