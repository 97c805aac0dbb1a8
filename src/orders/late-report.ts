/**
 * Finds changes of an order that come too late: its amounts are final, or it was rejected.
 *
 * The fold ignores such reports, so the sender must learn of it. There is no fault if nothing is
 * lost: for a retry, or for a report that is older or less trusted than the known one.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Fault } from '../platform/errors/api-errors.ts'
import { MAX_ID } from '../platform/ids.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import { addReport, amountsCloseAt, type OrderAccount } from './order-account.ts'
import {
  isNewer,
  type LoggedReport,
  type MergedOrder,
  mergeReports,
  type OrderReport,
  type Reports,
  withReport,
} from './order-merge.ts'

/** What a report would have changed and why it cannot; null if it counts or says nothing new. */
export function lateFault(account: OrderAccount, logged: LoggedReport, atMs: number): Fault | null {
  // It is not in the log yet, so it is later than everything there.
  const report = { ...logged, event_id: MAX_ID }
  if (addReport(account, { report, attribution: null, atMs }).ignored === null) return null
  const field = changedField(account.reports, report)
  return field === null ? null : { field, rule: whyClosed(account) }
}

function changedField(reports: Reports, report: OrderReport): string | null {
  const known = reports[report.source]
  if (known !== undefined && !isNewer(report, known)) return null
  const before = mergeReports(reports)
  const after = mergeReports(withReport(reports, report))
  if (after.isCancelled !== before.isCancelled) return 'order.status'
  if (after.currency !== before.currency) return 'order.currency'
  if (after.value !== before.value) return 'order.value'
  return isDeepStrictEqual(goodsOf(after), goodsOf(before)) ? null : 'products'
}

/** Names may change at any time, because they do not affect any amount. */
function goodsOf({ lines }: MergedOrder) {
  return lines.map(({ productId, quantity, weight }) => ({ productId, quantity, weight }))
}

function whyClosed(account: OrderAccount): string {
  const { rejection } = account
  return rejection === null
    ? `amounts closed on ${utcDay(amountsCloseAt(account))}; only a return changes it`
    : `rejected on ${utcDay(rejection.atMs)}: ${rejection.reason}; no report changes it`
}
