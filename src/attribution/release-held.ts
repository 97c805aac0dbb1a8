/**
 * Orders that waited for an exchange rate are told again, now with one.
 *
 * The report itself is repeated with the rate filled in, as an event of its own: it has the same
 * time stamp as the first, is accepted later, and so takes its place (order-merge.ts). Nothing
 * else about the order changes, and the log says when and by which rate it came to count.
 */
import { REPORT_PATIENCE_MS } from '../events/durable-append.ts'
import { EVENT_TYPE, MONEY_LANE, newEvent } from '../events/event.ts'
import { utcDay } from '../platform/timestamp.ts'
import { WINDOW_DAYS_DEFAULT } from './attribute.ts'
import type { IntakeDeps } from './intake.ts'
import { listOrdersWithoutRate, type OrderRecord } from './order-store.ts'
import { findRates } from './rate-store.ts'
import { type OrderBody, withRate } from './read-order.ts'
import { UsualValues } from './usual-value.ts'

const ORDERS_PER_ROUND = 500 // One batch of the event log.

/** Releases what can be released by the rates there are now; the number of orders. */
export async function releaseHeldOrders(deps: IntakeDeps): Promise<number> {
  let released = 0
  let after = { merchId: 0, orderId: '' }
  for (;;) {
    const orders = await listOrdersWithoutRate(deps.db, { after, limit: ORDERS_PER_ROUND })
    const last = orders.at(-1)
    if (last === undefined) return released
    released += await releaseRound(deps, orders)
    after = last
  }
}

async function releaseRound(deps: IntakeDeps, orders: readonly OrderRecord[]): Promise<number> {
  const waiting = orders.flatMap(({ merchId, orderId, account }) =>
    Object.values(account.reports)
      .filter((report) => report.value_micros === null)
      .map((report) => ({ merchId, orderId, report })),
  )
  const dayOf = (atMs: number) => utcDay(new Date(atMs))
  const rateOf = await findRates(
    deps.db,
    waiting.map(({ report }) => ({ currency: report.currency, day: dayOf(report.ordered_at_ms) })),
  )
  const atMs = deps.now()
  const limits = await usualLimits(
    deps,
    waiting.map(({ merchId }) => merchId),
  )
  const events = waiting.flatMap(({ merchId, orderId, report }) => {
    const { event_id: _, ...told } = report
    const rate = rateOf({ currency: told.currency, day: dayOf(told.ordered_at_ms) })
    const converted = rate === null ? null : withRate(told, rate)
    if (converted === null) return []
    const isDoubtful = told.source === 'pixel' && (converted.value_micros ?? 0) > limits(merchId)
    const body: OrderBody = {
      order_id: orderId,
      exact_click_id: null,
      remembered_click_ids: [],
      window_days: WINDOW_DAYS_DEFAULT,
      report: isDoubtful ? { ...converted, hold: 'review' } : converted,
    }
    const shared = { atMs, lane: MONEY_LANE, type: EVENT_TYPE.order, merchId }
    return [newEvent({ ...shared, id: deps.nextId(), body: JSON.stringify(body) })]
  })
  await deps.append(events, { patienceMs: REPORT_PATIENCE_MS })
  return events.length
}

/** Above which value a browser's report is held, by merchant: as if its rate had been there. */
async function usualLimits(
  { db, now }: IntakeDeps,
  merchIds: readonly number[],
): Promise<(merchId: number) => number> {
  const values = new UsualValues(db)
  const limits = new Map<number, number>()
  for (const merchId of new Set(merchIds)) {
    limits.set(merchId, await values.limitOf(merchId, new Date(now())))
  }
  return (merchId) => limits.get(merchId) ?? 0
}
