/** Commands that print and write figures of publishers and merchants, and verify them. */
import { basename, dirname } from 'node:path'
import { Readable } from 'node:stream'
import { requireMerchant } from '../catalog/merchant-store.ts'
import { viewLane } from '../events/event.ts'
import { findFirstDayWithViews } from '../events/view-totals-store.ts'
import { readAccount } from '../ledger/debt-store.ts'
import { knownSealingKeys } from '../node/sealing-keys.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import { reconcile } from '../reconcile/reconcile.ts'
import { csvOfPages, exportReport, intoFolder } from '../reports/export.ts'
import {
  findLastEntry,
  GENERAL_LEDGER_COLUMNS,
  listGeneralLedger,
  sumAccounts,
} from '../reports/general-ledger-store.ts'
import { LEDGER_COLUMNS, listLedgerRows } from '../reports/merchant-ledger-store.ts'
import { openReports } from '../reports/read-report.ts'
import { daysBetween, type ReportName } from '../reports/report.ts'
import { listStats } from '../stats/row-store.ts'
import { requirePublisher } from './accounts.ts'
import type { CommandContext } from './command.ts'
import { requireDaysInOrder } from './day-range.ts'

/** A year and a day; longer exports need several commands. */
const DAYS_MAX = 366

export async function exportCommand(
  context: CommandContext,
  options: {
    readonly publisher: string
    readonly report: ReportName
    readonly from: string
    readonly to: string
    readonly out: string
    readonly gzip?: boolean
  },
) {
  const { report, from: dayFrom, to: dayTo } = options
  checkRange(options)
  const db = await context.database()
  const { pub_id: pubId, slug } = await requirePublisher(db, options.publisher)
  const now = context.now()
  const files = await exportReport(openReports(db, { pubId, now }), options.out, {
    pubId,
    slug,
    report,
    dayFrom,
    dayTo,
    now,
    isGzip: options.gzip === true,
  })
  const seenFrom = await findFirstDayWithViews(db, viewLane(pubId))
  if (report !== 'clicks' || seenFrom === null || dayFrom >= seenFrom) return { files }
  // Our choice: report it. Clicks stay forever, impressions for RETENTION_DAYS.
  context.progress(`Impressions before ${seenFrom} were dropped: those files hold clicks alone.`)
  return { files, impressions_from: seenFrom }
}

/** A merchant's account as one CSV file, with its current balance: the basis of an invoice. */
export async function merchantLedgerCommand(
  context: CommandContext,
  options: {
    readonly id: number
    readonly from: string
    readonly to: string
    readonly out: string
  },
) {
  checkRange(options)
  const { from: dayFrom, to: dayTo, out } = options
  const db = await context.database()
  const { merch_id: merchId, name } = await requireMerchant(db, options.id)
  const written = await writeTable(out, LEDGER_COLUMNS, (place) =>
    listLedgerRows(db, { merchId, dayFrom, dayTo, ...place }),
  )
  const account = await readAccount(db, { merchId, until: context.now() })
  return { merch_id: merchId, merchant: name, ...written, ...account }
}

/** The whole ledger of some days as one CSV file, with the balances before and after. */
export async function ledgerCommand(
  context: CommandContext,
  options: { readonly from: string; readonly to: string; readonly out: string },
) {
  checkRange(options)
  const db = await context.database()
  const days = { dayFrom: options.from, dayTo: options.to, lastEntry: await findLastEntry(db) }
  const written = await writeTable(options.out, GENERAL_LEDGER_COLUMNS, (place) =>
    listGeneralLedger(db, { ...days, ...place }),
  )
  return { ...written, accounts: await sumAccounts(db, days) }
}

async function writeTable(
  path: string,
  columns: readonly string[],
  readPage: Parameters<typeof csvOfPages>[1],
) {
  const counted = { rows: 0 }
  await intoFolder(dirname(path))(basename(path), () =>
    Readable.from(csvOfPages(columns, readPage, counted)),
  )
  return { path, rows: counted.rows }
}

function checkRange({ from, to }: { readonly from: string; readonly to: string }): void {
  requireDaysInOrder({ from, to })
  if (daysBetween(from, to).length > DAYS_MAX) {
    throw badRequest([{ field: 'to', rule: `at most ${DAYS_MAX} days at a time` }])
  }
}

/**
 * The rows of the statistics endpoint. Both days are included; a single day may be requested alone.
 */
export async function statsCommand(
  context: CommandContext,
  { publisher: slug, from, to }: { publisher: string; from: string; to: string },
) {
  requireDaysInOrder({ from, to })
  const db = await context.database()
  const { pub_id: pubId } = await requirePublisher(db, slug)
  return listStats(db, {
    pubId,
    dayFrom: from,
    dayTo: to,
    orderBy: 'clicks',
    isAscending: false,
    // Unlimited, because a program could not see where the rows were cut.
    limitRows: Number.MAX_SAFE_INTEGER,
    isOutOfNetwork: false,
    asOf: null,
  })
}

export async function reconcileCommand(
  context: CommandContext,
  { from = null, to = null }: { readonly from?: string | null; readonly to?: string | null },
) {
  if (from !== null && to !== null) requireDaysInOrder({ from, to })
  const onProgress = (line: string) => context.progress(line)
  const keys = await knownSealingKeys(context.config)
  return reconcile(await context.database(), { from, to, keys, onProgress })
}
