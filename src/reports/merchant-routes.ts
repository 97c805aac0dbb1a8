/** A merchant's API with its user's key: its account and orders. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NEEDS_KEY, needPermission } from '../accounts/require-key.ts'
import { MerchantParams, requireOwnMerchant } from '../catalog/own-merchant.ts'
import { readAccount } from '../ledger/debt-store.ts'
import { CLIENT_TIMEOUT_MS, FairLimiter } from '../platform/concurrency/concurrency-limiter.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import { rangeFaults, readDays } from '../stats/day-range.ts'
import { LEDGER_FILE, ledgerFile } from './merchant-ledger-file.ts'
import { LEDGER_COLUMNS, listLedgerRows } from './merchant-ledger-store.ts'
import {
  MERCHANT_ORDER_DESCRIPTION,
  MerchantOrderParams,
  MerchantOrderRecord,
} from './order-record-schema.ts'
import { explainMerchantOrder } from './order-record-store.ts'
import { plainRow } from './report.ts'
import type { ReportDeps } from './report-deps.ts'
import { LedgerPage, REPORT_DAYS_MAX, REPORT_LIMIT, ReportQuery } from './schema.ts'

export const merchantRoutes =
  (deps: ReportDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    needPermission(app, { keys: deps.keys, permission: 'figures.read' })
    app.addHook('preHandler', async (request) => {
      const { merch_id: merchId } = request.params as { merch_id: number }
      await requireOwnMerchant(deps.db, request, merchId)
    })
    await app.register(ledgerRoute(deps))
    await app.register(orderRoute(deps))
  }

/** A page may take the database a second, and the pool's connections are shared. */
const PAGES_AT_ONCE = 2
const LEDGER = { 'application/json': { schema: LedgerPage }, ...LEDGER_FILE }

/** A merchant's account: every entry that it owes or that paid for it. */
const ledgerRoute =
  ({ db, now }: Omit<ReportDeps, 'keys'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    const limiter = new FairLimiter(PAGES_AT_ONCE, { timeoutMs: CLIENT_TIMEOUT_MS })
    app.get(
      '/api/v1/merchants/:merch_id/ledger/',
      {
        config: { rules: ({ query }) => rangeFaults(query as object, REPORT_DAYS_MAX) },
        schema: {
          operationId: 'readMerchantLedger',
          summary: 'A merchant’s account: the cost of each click and order, and its payments',
          description:
            'One row for each ledger entry of the days, minus for amounts owed: clicks, orders, ' +
            'their revisions, returns and reversals, payments. A click’s receipt is at ' +
            'auction_results/<auction_result_number>/; by which rate and terms an order costs what ' +
            'it does, and which click led to it, at orders/<order_id>/. ' +
            `Columns: ${LEDGER_COLUMNS.join(', ')}.`,
          security: NEEDS_KEY,
          params: MerchantParams,
          querystring: ReportQuery,
          response: { 200: { description: 'By `format`', content: LEDGER } },
        },
      },
      async (request, reply) => {
        const { merch_id: merchId } = request.params
        const { limit = REPORT_LIMIT, cursor = null, format = 'json' } = request.query
        const days = { merchId, ...readDays(request.query) }
        if (format === 'csv') {
          const { headers, body } = await ledgerFile({ db, limiter }, days)
          return reply.headers(headers).send(body)
        }
        const page = { ...days, cursor, limitRows: limit }
        const { rows, next } = await limiter.run(merchId, () => listLedgerRows(db, page))
        const account = await limiter.run(merchId, () => readAccount(db, { merchId, until: now() }))
        return reply.send({ merch_id: merchId, ...account, next, rows: rows.map(plainRow) })
      },
    )
  }

/** Whether a locked order is paid requires settling all the merchant's debts and payments. */
const ORDERS_AT_ONCE = 2

/** One order: its cost, and the reason. */
const orderRoute =
  ({ db, now }: Omit<ReportDeps, 'keys'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    const limiter = new FairLimiter(ORDERS_AT_ONCE, { timeoutMs: CLIENT_TIMEOUT_MS })
    app.get(
      '/api/v1/merchants/:merch_id/orders/:order_id/',
      {
        schema: {
          operationId: 'explainMerchantOrder',
          summary: 'What an order costs its merchant, and why: rate, terms, clicks, entries',
          description: MERCHANT_ORDER_DESCRIPTION,
          security: NEEDS_KEY,
          params: MerchantOrderParams,
          response: { 200: envelope(MerchantOrderRecord) },
        },
      },
      async (request) => {
        const { merch_id: merchId, order_id: orderId } = request.params
        const wanted = { merchId, orderId, now: now() }
        const order = await limiter.run(merchId, () => explainMerchantOrder(db, wanted))
        if (order === null) throw notFound(`No order ${orderId}`)
        return ok(200, order)
      },
    )
  }
