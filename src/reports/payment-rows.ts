/** The payments report: what merchants' money released of a publisher's earnings, day by day. */
import { clickDayOf } from '../ledger/debt-store.ts'
import type { MerchantRelease } from '../ledger/publisher-releases.ts'
import { monthOf, statementId } from '../ledger/statement.ts'
import type { CsvCell } from '../platform/csv.ts'
import { formatExact } from '../platform/money.ts'
import { utcDay } from '../platform/timestamp.ts'
import { type ReportPage, type ReportRequest, reportTime, unknownCursor } from './report.ts'

/** A page of the report; its cursor counts rows, for a released cent stays where it is. */
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
    rows: wanted.slice(start, end).map((release) => cellsOf(release, { pubId, merchantNames })),
    next: end < wanted.length ? String(end) : null,
  }
}

function readStart(cursor: string | null): number {
  if (cursor === null) return 0
  if (!/^\d{1,9}$/.test(cursor)) throw unknownCursor()
  return Number(cursor)
}

function cellsOf(
  release: MerchantRelease,
  of: { readonly pubId: number; readonly merchantNames: ReadonlyMap<number, string> },
): CsvCell[] {
  const { key, atMs, paymentId, earningsMicros, isWhole, merchId } = release
  const [orderProductId = ''] = key.split(' ')
  const paid = isWhole ? 'PAID' : 'PART_PAID'
  return [
    paymentId,
    reportTime(new Date(atMs)),
    { text: of.merchantNames.get(merchId) ?? null },
    { text: clickDayOf(key) ?? orderProductId },
    formatExact(earningsMicros),
    statementId(of.pubId, monthOf(atMs)),
    earningsMicros < 0 ? 'TAKEN_BACK' : paid,
  ]
}
