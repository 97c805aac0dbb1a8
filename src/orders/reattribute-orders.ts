/**
 * Repeats orders that reached the log before the click they name, once the click is there.
 *
 * While the log is away, each node stores what it accepts and delivers it later. An order from one
 * node may then precede its click from another, and nobody would be paid. The report is repeated as
 * a separate event with the click that was named. So the log records when the owner was found, and
 * the fold and reconciliation see only a repeated report.
 */
import { appendMoney } from '../events/append-money.ts'
import { EVENT_TYPE } from '../events/event.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'
import type { IntakeDeps } from './intake.ts'
import { asLogged } from './order-merge.ts'
import { findBodies, findClicks, type OrderRecord, ordersOfUnknownClicks } from './order-store.ts'
import { clickIdsOf, type OrderBody } from './read-order.ts'

/** A node that was down delivers its clicks when it starts again. */
const LATE_DAYS = 7

/** Repeats orders whose clicks have arrived since. Returns the number of reports. */
export async function reattributeOrders(deps: IntakeDeps): Promise<number> {
  const now = new Date(deps.now())
  const since = new Date(now.getTime() - LATE_DAYS * DAY_MS)
  let repeated = 0
  for await (const orders of ordersOfUnknownClicks(deps.db, { now, since })) {
    repeated += await reattributeBatch(deps, { orders, day: utcDay(since.getTime()) })
  }
  return repeated
}

async function reattributeBatch(
  deps: IntakeDeps,
  { orders, day }: { readonly orders: readonly OrderRecord[]; readonly day: string },
): Promise<number> {
  const clicks = await findClicks(deps.db, [...new Set(orders.flatMap(unknownClicksOf))])
  const found = orders.filter((order) => unknownClicksOf(order).some((id) => clicks.has(id)))
  const bodies = await findBodies(deps.db, { day, eventIds: found.flatMap(reportEvents) })
  const newEvents = found.flatMap((order) =>
    namings(order, bodies)
      .filter((body) => namesFor(order, body).some((id) => clicks.has(id)))
      .map((body) => ({ merchId: order.merchId, body })),
  )
  await appendMoney(deps, EVENT_TYPE.order, newEvents)
  return newEvents.length
}

function unknownClicksOf({ account }: Pick<OrderRecord, 'account'>): string[] {
  return account.evidence.flatMap(({ id, verdict }) => (verdict === 'unknown_click' ? id : []))
}

/**
 * The current reports, and the first one. A report of only a new amount, status or rate names no
 * click, and replaces the report that did.
 */
function reportEvents({ eventId, account }: OrderRecord): string[] {
  const first = eventId === null ? [] : [eventId]
  return [...first, ...Object.values(account.reports).map(({ event_id }) => event_id)]
}

/**
 * By source, the last report that named a click, with the current state: it may be approved by now.
 */
function namings(order: OrderRecord, bodies: ReadonlyMap<string, string>): OrderBody[] {
  const named = reportEvents(order)
    .flatMap((eventId) => bodies.get(eventId) ?? [])
    .map((body) => JSON.parse(body) as OrderBody)
    .filter((body) => clickIdsOf(body).length > 0)
  const bySource = new Map(named.map((body) => [body.report.source, body]))
  return Object.values(order.account.reports).flatMap((report) => {
    const body = bySource.get(report.source)
    return body === undefined ? [] : { ...body, report: asLogged(report) }
  })
}

/** An order owed to a guess may only be taken over by the click that the merchant named. */
function namesFor({ account }: OrderRecord, body: OrderBody): string[] {
  const unknown = new Set(unknownClicksOf({ account }))
  const named = clickIdsOf(
    account.attribution === null ? body : { ...body, remembered_click_ids: [] },
  )
  return named.filter((id) => unknown.has(id))
}
