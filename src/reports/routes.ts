/** A publisher's reports, orders and statements over the API. */
import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { requireExistingOwnPublisher } from '../accounts/own-publisher.ts'
import { NEEDS_KEY, needPermission } from '../accounts/require-key.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { listStatements } from '../ledger/statement-store.ts'
import {
  CLIENT_TIMEOUT_MS,
  FairLimiter,
  unlessStarted,
} from '../platform/concurrency/concurrency-limiter.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import { startedStream } from '../platform/http/started-stream.ts'
import { csvFileHeaders } from '../platform/text/csv.ts'
import { rangeFaults, readDayRange } from '../stats/day-range.ts'
import { rangeLines } from './export.ts'
import { ORDER_DESCRIPTION, OrderRecord } from './order-record-schema.ts'
import { explainPublisherOrder } from './order-record-store.ts'
import { Payments } from './payments-schema.ts'
import { readPayments } from './payments-store.ts'
import { openReports, type ReportSource } from './read-report.ts'
import { plainRow } from './report.ts'
import type { ReportDeps } from './report-deps.ts'
import {
  OrderParams,
  REPORT_DAYS_MAX,
  REPORT_LIMIT,
  REPORTS_DESCRIPTION,
  ReportPage,
  ReportParams,
  ReportQuery,
  StatementParams,
  StatementQuery,
  StatementRecord,
} from './schema.ts'
import { toStatementRecord } from './statement-record.ts'
import { STATEMENT, statementReply } from './statement-reply.ts'

/** As on the dashboard (dashboard-routes.ts); a page of rows may also take a second. */
const PAGES_AT_ONCE = 3
const REPORT = {
  'application/json': { schema: ReportPage },
  'text/csv': { schema: Type.Unsafe<Readable>({ type: 'string' }) },
}
export const reportRoutes =
  (deps: ReportDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    needPermission(app, { keys: deps.keys, permission: 'figures.read' })
    app.addHook('preHandler', async (request) => {
      const { pub_id: pubId } = request.params as { pub_id: number }
      await requireExistingOwnPublisher(deps.db, request, pubId)
    })
    const limiter = new FairLimiter(PAGES_AT_ONCE, { timeoutMs: CLIENT_TIMEOUT_MS })
    await app.register(tableRoutes({ ...deps, limiter }))
    await app.register(statementRoutes({ ...deps, limiter }))
    await app.register(paymentsRoute({ ...deps, limiter }))
  }

interface PageDeps extends ReportDeps {
  readonly limiter: FairLimiter
}

const tableRoutes =
  ({ db, now, limiter }: PageDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/publishers/:pub_id/reports/:report/',
      {
        config: { rules: ({ query }) => rangeFaults(query as object, REPORT_DAYS_MAX) },
        schema: {
          operationId: 'readReport',
          summary: 'A report: a page of rows, or a CSV file',
          description: REPORTS_DESCRIPTION,
          security: NEEDS_KEY,
          params: ReportParams,
          querystring: ReportQuery,
          response: { 200: { description: 'By `format`', content: REPORT } },
        },
      },
      async (request, reply) => {
        const { pub_id: pubId, report } = request.params
        const { limit = REPORT_LIMIT, cursor = null, format = 'json' } = request.query
        const range = readDayRange(pubId, request.query)
        const at = now()
        const reports = openReports(db, { pubId, now: at })
        const wanted = { ...range, now: at }
        if (format === 'csv') {
          const source = limitPages(limiter, pubId, reports)
          const file = await startedStream(rangeLines(source, { ...wanted, report }))
          const name = `souk_${report}_${range.dayFrom}_${range.dayTo}.csv`
          return reply.headers(csvFileHeaders(name)).send(file)
        }
        const page = () => reports.page(report, { ...wanted, cursor, limitRows: limit })
        const { rows, next } = await limiter.run(pubId, page)
        return reply.send({ report, pub_id: pubId, next, rows: rows.map(plainRow) })
      },
    )

    app.get(
      '/api/v1/publishers/:pub_id/orders/:order_id/',
      {
        schema: {
          operationId: 'explainOrder',
          summary: 'An order: its reports, competing clicks, lines, returns, ledger entries',
          description: ORDER_DESCRIPTION,
          security: NEEDS_KEY,
          params: OrderParams,
          response: { 200: envelope(OrderRecord) },
        },
      },
      async (request) => {
        const { pub_id: pubId, order_id: eventId } = request.params
        const wanted = { pubId, eventId, now: now() }
        const order = await limiter.run(pubId, () => explainPublisherOrder(db, wanted))
        if (order === null) throw notFound(`No order ${eventId}`)
        return ok(200, order)
      },
    )
  }

const statementRoutes =
  ({ db, limiter }: PageDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/publishers/:pub_id/statements/',
      {
        config: { permission: 'payments.read' },
        schema: {
          operationId: 'listStatements',
          summary: 'Statements issued so far, oldest first',
          security: NEEDS_KEY,
          params: PublisherParams,
          response: { 200: envelope(StatementRecord) },
        },
      },
      async (request) => {
        const statements = await listStatements(db, request.params.pub_id)
        return ok(200, ...statements.map(toStatementRecord))
      },
    )

    app.get(
      '/api/v1/publishers/:pub_id/statements/:month/',
      {
        config: { permission: 'payments.read' },
        schema: {
          operationId: 'readStatement',
          summary: 'A month’s statement: as a record, as CSV, or as a page to print',
          security: NEEDS_KEY,
          params: StatementParams,
          querystring: StatementQuery,
          response: { 200: { description: 'By `format`', content: STATEMENT } },
        },
      },
      async (request, reply) => {
        const { pub_id: pubId, month } = request.params
        const wanted = { pubId, month, ...request.query }
        const { headers, body } = await statementReply({ db, limiter }, wanted)
        return reply.headers(headers).send(body)
      },
    )
  }

const paymentsRoute =
  ({ db, now, limiter }: PageDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/publishers/:pub_id/payments/',
      {
        config: { permission: 'payments.read' },
        schema: {
          operationId: 'readPayments',
          summary: 'All earnings: not final, debts by merchant and age, released, paid out',
          security: NEEDS_KEY,
          params: PublisherParams,
          response: { 200: envelope(Payments) },
        },
      },
      async (request) => {
        const { pub_id: pubId } = request.params
        return ok(200, await limiter.run(pubId, () => readPayments(db, { pubId, now: now() })))
      },
    )
  }

function limitPages(limiter: FairLimiter, pubId: number, { page }: ReportSource): ReportSource {
  return {
    page: (report, wanted) =>
      limiter.run(pubId, () => page(report, wanted), unlessStarted(wanted.cursor !== null)),
  }
}
