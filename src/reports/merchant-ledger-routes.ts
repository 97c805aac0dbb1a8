/** A merchant's account over the API: every entry that it owes or that paid for it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NEEDS_KEY } from '../accounts/require-key.ts'
import { MerchantParams } from '../catalog/own-merchant.ts'
import { readAccount } from '../ledger/debt-store.ts'
import { CLIENT_PATIENCE_MS, FairTurns } from '../platform/concurrency/turns.ts'
import { rangeFaults, readDays } from '../stats/day-range.ts'
import { LEDGER_FILE, ledgerFile } from './merchant-ledger-file.ts'
import { LEDGER_COLUMNS, listLedgerRows } from './merchant-ledger-store.ts'
import { plainRow } from './report.ts'
import type { ReportDeps } from './report-deps.ts'
import { LedgerPage, REPORT_DAYS_MAX, REPORT_LIMIT, ReportQuery } from './schema.ts'

/** A page may take the database a second, and the pool's connections are shared. */
const PAGES_AT_ONCE = 2
const LEDGER = { 'application/json': { schema: LedgerPage }, ...LEDGER_FILE }

/** The routes that register these check the caller's key. */
export const merchantLedgerRoutes =
  ({ db, now }: Omit<ReportDeps, 'keys'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    const turns = new FairTurns(PAGES_AT_ONCE, { patienceMs: CLIENT_PATIENCE_MS })
    app.get(
      '/api/v1/merchants/:merch_id/ledger/',
      {
        config: { rules: ({ query }) => rangeFaults(query as object, REPORT_DAYS_MAX) },
        schema: {
          operationId: 'readMerchantLedger',
          summary: 'A merchant’s account: what each click and order cost it, and what it paid',
          description:
            'One row for each ledger entry of the days, minus for what is owed: clicks, orders, ' +
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
          const { headers, body } = await ledgerFile({ db, turns }, days)
          return reply.headers(headers).send(body)
        }
        const page = { ...days, cursor, limitRows: limit }
        const { rows, next } = await turns.run(merchId, () => listLedgerRows(db, page))
        const account = await turns.run(merchId, () => readAccount(db, { merchId, until: now() }))
        return reply.send({ merch_id: merchId, ...account, next, rows: rows.map(plainRow) })
      },
    )
  }
