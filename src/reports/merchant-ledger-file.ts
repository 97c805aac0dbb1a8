/** A merchant's account as a file. */
import type { Readable } from 'node:stream'
import Type from 'typebox'
import { type FairLimiter, unlessStarted } from '../platform/concurrency/concurrency-limiter.ts'
import { startedStream } from '../platform/http/started-stream.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { csvFileHeaders } from '../platform/text/csv.ts'
import { csvOfPages } from './export.ts'
import { LEDGER_COLUMNS, type LedgerRequest, listLedgerRows } from './merchant-ledger-store.ts'

export const LEDGER_FILE = { 'text/csv': { schema: Type.Unsafe<Readable>({ type: 'string' }) } }

/** All entries of some days, read as fast as the client takes them. */
export async function ledgerFile(
  { db, limiter }: { readonly db: Db; readonly limiter: FairLimiter },
  days: Omit<LedgerRequest, 'cursor' | 'limitRows'>,
): Promise<{ headers: Readonly<Record<string, string>>; body: Readable }> {
  const lines = csvOfPages(LEDGER_COLUMNS, (place) =>
    limiter.run(
      days.merchId,
      () => listLedgerRows(db, { ...days, ...place }),
      unlessStarted(place.cursor !== null),
    ),
  )
  const name = `souk_ledger_${days.dayFrom}_${days.dayTo}.csv`
  return { headers: csvFileHeaders(name), body: await startedStream(lines) }
}
