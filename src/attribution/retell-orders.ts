/**
 * Orders that came into the log before the click they name are told again, now that it is there.
 *
 * While the log is away each node keeps what it accepts, and brings it when the log is back: an
 * order from one node may then lie before its click from another, and nobody would be paid for it.
 * What is known of it is repeated as an event of its own, with the click that was named: so the log
 * says when it was found whom the order is owed to, and fold and reconciliation know nothing more
 * than that it was told twice.
 */
import { appendMoney } from '../events/append-money.ts'
import { EVENT_TYPE } from '../events/event.ts'
import { DAY_MS, utcDay } from '../platform/timestamp.ts'
import type { IntakeDeps } from './intake.ts'
import { asTold } from './order-merge.ts'
import { findBodies, findClicks, type OrderRecord, ordersOfUnknownClicks } from './order-store.ts'
import { clickIdsOf, type OrderBody } from './read-order.ts'

/** A node that was down brings its clicks when it starts again. */
const LATE_DAYS = 7

/** Tells again what names clicks that have come since; the number of reports. */
export async function retellOrders(deps: IntakeDeps): Promise<number> {
  const now = new Date(deps.now())
  const since = new Date(now.getTime() - LATE_DAYS * DAY_MS)
  let retold = 0
  for await (const orders of ordersOfUnknownClicks(deps.db, { now, since })) {
    retold += await retellRound(deps, { orders, day: utcDay(since.getTime()) })
  }
  return retold
}

async function retellRound(
  deps: IntakeDeps,
  { orders, day }: { readonly orders: readonly OrderRecord[]; readonly day: string },
): Promise<number> {
  const clicks = await findClicks(deps.db, [...new Set(orders.flatMap(unknownClicksOf))])
  const found = orders.filter((order) => unknownClicksOf(order).some((id) => clicks.has(id)))
  const bodies = await findBodies(deps.db, { day, eventIds: found.flatMap(toldBy) })
  const news = found.flatMap((order) =>
    namings(order, bodies)
      .filter((body) => namesFor(order, body).some((id) => clicks.has(id)))
      .map((body) => ({ merchId: order.merchId, body })),
  )
  await appendMoney(deps, EVENT_TYPE.order, news)
  return news.length
}

function unknownClicksOf({ account }: Pick<OrderRecord, 'account'>): string[] {
  return account.evidence.flatMap(({ id, verdict }) => (verdict === 'unknown_click' ? id : []))
}

/**
 * The reports in force, and the first one: what tells no more than a new amount or status, or that
 * a rate was found, names no click, and takes the place of what did.
 */
function toldBy({ eventId, account }: OrderRecord): string[] {
  const first = eventId === null ? [] : [eventId]
  return [...first, ...Object.values(account.reports).map(({ event_id }) => event_id)]
}

/** By source what last named a click, with the report as it stands: it may be approved by now. */
function namings(order: OrderRecord, bodies: ReadonlyMap<string, string>): OrderBody[] {
  const named = toldBy(order)
    .flatMap((eventId) => bodies.get(eventId) ?? [])
    .map((body) => JSON.parse(body) as OrderBody)
    .filter((body) => clickIdsOf(body).length > 0)
  const bySource = new Map(named.map((body) => [body.report.source, body]))
  return Object.values(order.account.reports).flatMap((report) => {
    const body = bySource.get(report.source)
    return body === undefined ? [] : { ...body, report: asTold(report) }
  })
}

/** Of an order that is owed to a guess, only the click that the merchant named may take it over. */
function namesFor({ account }: OrderRecord, body: OrderBody): string[] {
  const unknown = new Set(unknownClicksOf({ account }))
  const named = clickIdsOf(
    account.attribution === null ? body : { ...body, remembered_click_ids: [] },
  )
  return named.filter((id) => unknown.has(id))
}
