/** The payments report: which payments released which of a publisher's earnings, day by day. */
import { clickDayOf } from '../ledger/debt-store.ts'
import type { MerchantRelease } from '../ledger/publisher-releases.ts'
import { ownKeyOf } from '../ledger/release.ts'
import { monthOf, statementId } from '../ledger/statement.ts'
import { formatExact } from '../platform/money/money.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import {
  type ReportPage,
  type ReportRequest,
  type ReportRow,
  reportTime,
  unknownCursor,
} from './report.ts'

/** A page of the report. Its cursor counts rows, because a released cent never moves. */
export function paymentRows(
  releases: readonly MerchantRelease[],
  merchantNames: ReadonlyMap<number, string>,
  request: ReportRequest,
): ReportPage {
  const { pubId, dayFrom, dayTo, cursor, limitRows } = request
  const wanted = releases.filter(({ atMs }) => {
    const day = utcDay(atMs)
    return day >= dayFrom && day <= dayTo
  })
  const start = readStart(cursor)
  const end = start + limitRows
  return {
    rows: wanted.slice(start, end).map((release) => rowOf(release, { pubId, merchantNames })),
    next: end < wanted.length ? String(end) : null,
  }
}

function readStart(cursor: string | null): number {
  if (cursor === null) return 0
  if (!/^\d{1,9}$/.test(cursor)) throw unknownCursor()
  return Number(cursor)
}

function rowOf(
  release: MerchantRelease,
  of: { readonly pubId: number; readonly merchantNames: ReadonlyMap<number, string> },
): ReportRow<'payments'> {
  const { key, atMs, paymentId, earningsMicros, isWhole, merchId } = release
  const paid = isWhole ? 'PAID' : 'PART_PAID'
  return {
    payment_id: paymentId,
    paid_at: reportTime(new Date(atMs)),
    merchant: { text: of.merchantNames.get(merchId) ?? null },
    order_product_id: { text: clickDayOf(key) ?? ownKeyOf(key) },
    amount_usd: formatExact(earningsMicros),
    statement_id: statementId(of.pubId, monthOf(atMs)),
    state: earningsMicros < 0 ? 'TAKEN_BACK' : paid,
  }
}
