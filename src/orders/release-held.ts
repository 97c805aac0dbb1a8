/**
 * Releases orders that waited for an exchange rate, by repeating their report with the rate.
 *
 * The repeated report is a separate event. It has the timestamp of the first and is accepted later,
 * so it replaces it (order-merge.ts). Nothing else about the order changes, and the log records
 * when and by which rate it came to count.
 */
import { appendMoney, type NewMoneyEvent } from '../events/append-money.ts'
import { EVENT_TYPE } from '../events/event.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import { WINDOW_DAYS_DEFAULT } from './attribute.ts'
import type { IntakeDeps } from './intake.ts'
import { addReport, holdOf, type OrderAccount } from './order-account.ts'
import { asLogged, type LoggedReport, type OrderReport } from './order-merge.ts'
import { type OrderRecord, ordersWithoutRate } from './order-store.ts'
import { findRates } from './rate-store.ts'
import { type OrderBody, withRate } from './read-order.ts'
import { UsualValues } from './usual-value.ts'

/** Releases what the current rates allow. Returns the number of orders. */
export async function releaseHeldOrders(deps: IntakeDeps): Promise<number> {
  let released = 0
  for await (const orders of ordersWithoutRate(deps.db)) {
    released += await releaseBatch(deps, orders)
  }
  return released
}

/** Repeats the reports that now count. A report without any effect is skipped. */
async function releaseBatch(deps: IntakeDeps, orders: readonly OrderRecord[]): Promise<number> {
  const withRateOf = await converter(deps, orders)
  const atMs = deps.now()
  const newEvents: NewMoneyEvent[] = []
  let released = 0
  for (const { merchId, orderId, account } of orders) {
    let after = account
    for (const waiting of reportsWithoutRate(account)) {
      const report = withRateOf(merchId, waiting)
      if (report === null) continue
      const id = deps.nextId()
      const received = { report: { ...report, event_id: id }, attribution: null, atMs }
      const result = addReport(after, received)
      if (result.ignored !== null) continue
      after = result.account
      newEvents.push({ id, merchId, body: bodyOf(orderId, report) })
    }
    if (holdOf(after) === null) released += 1
  }
  await appendMoney(deps, EVENT_TYPE.order, newEvents)
  return released
}

function reportsWithoutRate({ reports }: OrderAccount): OrderReport[] {
  return Object.values(reports).filter(({ value_micros }) => value_micros === null)
}

function bodyOf(orderId: string, report: LoggedReport): OrderBody {
  return {
    order_id: orderId,
    exact_click_id: null,
    remembered_click_ids: [],
    window_days: WINDOW_DAYS_DEFAULT,
    report,
  }
}

/** A waiting report with the rate of its day; null if there is still none. */
async function converter(
  deps: IntakeDeps,
  orders: readonly OrderRecord[],
): Promise<(merchId: number, waiting: OrderReport) => LoggedReport | null> {
  const wanted = orders.flatMap(({ account }) => reportsWithoutRate(account))
  const rateOf = await findRates(
    deps.db,
    wanted.map((report) => ({ currency: report.currency, day: utcDay(report.ordered_at_ms) })),
  )
  const limits = await usualLimits(
    deps,
    orders.map(({ merchId }) => merchId),
  )
  return (merchId, waiting) => {
    const logged = asLogged(waiting)
    const rate = rateOf({ currency: logged.currency, day: utcDay(logged.ordered_at_ms) })
    const converted = rate === null ? null : withRate(logged, rate)
    if (converted === null) return null
    const isDoubtful = logged.source === 'pixel' && (converted.value_micros ?? 0) > limits(merchId)
    return isDoubtful ? { ...converted, hold: 'review' } : converted
  }
}

/**
 * The values above which a browser's report is held, by merchant, as if the rate had been known.
 */
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
