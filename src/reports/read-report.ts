/** A page of any report by name, for files and API. */
import { listMerchantNames } from '../catalog/merchant-store.ts'
import { openReleases } from '../ledger/publisher-releases.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { listClickRows } from './clicks-store.ts'
import { listOrderRows } from './orders-store.ts'
import { paymentRows } from './payment-rows.ts'
import type { ReportName, ReportPage, ReportRequest } from './report.ts'
import { listReturnRows } from './returns-store.ts'

/** Shared by several pages: settling a merchant reads all its debts. */
export interface ReportSource {
  page(report: ReportName, request: ReportRequest): Promise<ReportPage>
}

/** A publisher's reports as of `now`. */
export function openReports(
  db: Db,
  { pubId, now }: { readonly pubId: number; readonly now: Date },
): ReportSource {
  const releases = openReleases(db, { pubId, until: now })
  return {
    async page(report, request) {
      switch (report) {
        case 'clicks':
          return listClickRows(db, request)
        case 'orders':
          return listOrderRows(db, request, releases)
        case 'returns':
          return listReturnRows(db, request)
        case 'payments':
          return paymentRows(await releases.all(), await listMerchantNames(db), request)
      }
    },
  }
}
