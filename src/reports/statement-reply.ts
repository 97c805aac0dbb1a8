/** A month's statement as a response: for a program with a key, or a browser with a session. */
import Type, { type Static } from 'typebox'
import { findPublisher } from '../accounts/publisher-store.ts'
import type { FairLimiter } from '../platform/concurrency/concurrency-limiter.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { csvFileHeaders } from '../platform/text/csv.ts'
import { PAGE_HEADERS } from './print-page.ts'
import { StatementDetail, type StatementQuery } from './schema.ts'
import { statementPage } from './statement-page.ts'
import { findStatementDetail, statementCsv } from './statement-record.ts'

const STATEMENT_ENVELOPE = envelope(StatementDetail)
export const STATEMENT = {
  'application/json': { schema: STATEMENT_ENVELOPE },
  'text/csv': { schema: Type.String() },
  'text/html': { schema: Type.String() },
}

interface Wanted {
  readonly pubId: number
  readonly month: string
  readonly format?: Static<typeof StatementQuery>['format']
}

interface StatementReply {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Static<typeof STATEMENT_ENVELOPE> | string
}

/** Throws a 404 if none was issued. */
export async function statementReply(
  { db, limiter }: { readonly db: Db; readonly limiter: FairLimiter },
  { pubId, month, format = 'json' }: Wanted,
): Promise<StatementReply> {
  const statement = await limiter.run(pubId, () => findStatementDetail(db, { pubId, month }))
  if (statement === null) throw notFound(`No statement of ${month}`)
  if (format === 'json') return { headers: {}, body: ok(200, statement) }
  if (format === 'csv') {
    const name = `souk_statement_${statement.statement_id}.csv`
    return { headers: csvFileHeaders(name), body: statementCsv(statement) }
  }
  const publisher = await findPublisher(db, pubId)
  return { headers: PAGE_HEADERS, body: statementPage(statement, publisher?.name ?? '') }
}
