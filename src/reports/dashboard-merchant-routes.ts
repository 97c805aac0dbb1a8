/**
 * A merchant's page of the dashboard: its costs, its account with the reason for each entry, and
 * its refused reports. Registered behind the sign-in (accounts/dashboard-routes.ts).
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { sessionUserOf } from '../accounts/session.ts'
import { awaitReceipt } from '../auction/await-receipt.ts'
import { explainAuction } from '../auction/explain.ts'
import { Explanation } from '../auction/explanation-schema.ts'
import { unpackReceipt } from '../auction/receipt.ts'
import { listMerchantIdsOf, listMerchantNames } from '../catalog/merchant-store.ts'
import { MerchantParams, requireOwnedMerchant } from '../catalog/own-merchant.ts'
import { listRefusals } from '../orders/intake-store.ts'
import { RefusalRecord, toRefusalRecord } from '../orders/schema.ts'
import { CLIENT_PATIENCE_MS, FairTurns } from '../platform/concurrency/turns.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { NamedMerchant, PAGE_DAYS_MAX, RangeQuery } from '../stats/dashboard-schema.ts'
import { rangeFaults, readDays } from '../stats/day-range.ts'
import { LEDGER_FILE, ledgerFile } from './merchant-ledger-file.ts'
import { readAccountPage } from './merchant-ledger-store.ts'
import { AccountPage, MerchantOverview } from './merchant-overview-schema.ts'
import { readMerchantOverview } from './merchant-overview-store.ts'
import { MerchantOrderParams, MerchantOrderRecord } from './order-record-schema.ts'
import { explainMerchantOrder } from './order-record-store.ts'
import { ReportQuery } from './schema.ts'

/** Settling a large merchant may take the database seconds, and its connections are shared. */
const PAGES_AT_ONCE = 2
const ENTRIES_MAX = 50
/** Refusals of the merchant's server, and as many of other senders; the API has more. */
const REFUSALS_MAX = 20

const config = {
  rules: ({ query }: FastifyRequest) => rangeFaults(query as object, PAGE_DAYS_MAX),
}
const AccountQuery = Type.Object({
  ...RangeQuery.properties,
  cursor: ReportQuery.properties.cursor,
})

const ReceiptParams = Type.Object({
  ...MerchantParams.properties,
  result_number: Type.String({ pattern: '^[0-9a-f]{32}$' }),
})
const NO_RECEIPT = 'No receipt is kept of it any more: what was paid stands in the ledger'

interface DashboardMerchantDeps {
  readonly db: Db
  /** Campaigns whose budgets the pending orders will use up, as this node's auctions see it. */
  readonly overCap: () => ReadonlySet<number>
  readonly now: () => Date
}

export const dashboardMerchantRoutes =
  ({ db, overCap, now }: DashboardMerchantDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const turns = new FairTurns(PAGES_AT_ONCE, { patienceMs: CLIENT_PATIENCE_MS })
    app.get(
      '/dashboard/api/merchants/',
      {
        schema: { operationId: 'listMyMerchants', response: { 200: envelope(NamedMerchant) } },
      },
      async (request) => {
        const own = await listMerchantIdsOf(db, sessionUserOf(request).uid)
        const names = await listMerchantNames(db, own)
        return ok(200, ...[...names].map(([merch_id, name]) => ({ merch_id, name })))
      },
    )

    app.get(
      '/dashboard/api/merchants/:merch_id/overview/',
      {
        config,
        schema: {
          operationId: 'readMerchantOverview',
          params: MerchantParams,
          querystring: RangeQuery,
          response: { 200: envelope(MerchantOverview) },
        },
      },
      async (request) => {
        const merchant = await requireOwnedMerchant(db, request)
        const asked = { merchant, ...readDays(request.query), overCap: overCap(), now: now() }
        return ok(200, await turns.run(merchant.merch_id, () => readMerchantOverview(db, asked)))
      },
    )
    await app.register(accountRoutes({ db, turns }))
    await app.register(whyRoutes({ db, now, turns }))
    await app.register(refusedRoute({ db }))
  }

const accountRoutes =
  ({ db, turns }: { db: Db; turns: FairTurns }): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/dashboard/api/merchants/:merch_id/entries/',
      {
        config,
        schema: {
          operationId: 'listMyEntries',
          params: MerchantParams,
          querystring: AccountQuery,
          response: { 200: envelope(AccountPage) },
        },
      },
      async (request) => {
        const { merch_id: merchId } = await requireOwnedMerchant(db, request)
        const { cursor = null } = request.query
        const page = { cursor, limitRows: ENTRIES_MAX, isNewestFirst: true }
        const asked = { merchId, ...readDays(request.query), ...page }
        return ok(200, await turns.run(merchId, () => readAccountPage(db, asked)))
      },
    )

    app.get(
      '/dashboard/api/merchants/:merch_id/ledger/',
      {
        config,
        schema: {
          operationId: 'readMyLedger',
          params: MerchantParams,
          querystring: RangeQuery,
          response: { 200: { description: 'A CSV file', content: LEDGER_FILE } },
        },
      },
      async (request, reply) => {
        const { merch_id: merchId } = await requireOwnedMerchant(db, request)
        const days = { merchId, ...readDays(request.query) }
        const { headers, body } = await ledgerFile({ db, turns }, days)
        return reply.headers(headers).send(body)
      },
    )
  }

const refusedRoute =
  ({ db }: Pick<DashboardMerchantDeps, 'db'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/dashboard/api/merchants/:merch_id/refused/',
      {
        schema: {
          operationId: 'listMyRefused',
          params: MerchantParams,
          response: { 200: envelope(RefusalRecord) },
        },
      },
      async (request) => {
        const { merch_id: merchId } = await requireOwnedMerchant(db, request)
        const refused = await listRefusals(db, { merchId, limit: REFUSALS_MAX })
        return ok(200, ...refused.map(toRefusalRecord))
      },
    )
  }

type WhyDeps = Pick<DashboardMerchantDeps, 'db' | 'now'> & { readonly turns: FairTurns }

/** The reason for a click's or an order's cost, as in the API. */
const whyRoutes =
  ({ db, now, turns }: WhyDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/dashboard/api/merchants/:merch_id/receipts/:result_number/',
      {
        schema: {
          operationId: 'readMerchantReceipt',
          params: ReceiptParams,
          response: { 200: envelope(Explanation) },
        },
      },
      async (request) => {
        const { merch_id: merchId } = await requireOwnedMerchant(db, request)
        const resultNumber = Buffer.from(request.params.result_number, 'hex')
        const packed = await awaitReceipt(db, resultNumber)
        if (packed === null) throw notFound(NO_RECEIPT)
        const explanation = explainAuction(unpackReceipt(packed), {
          kind: 'merchant',
          merchIds: new Set([merchId]),
        })
        // A merchant sees no auction in which it did not take part.
        if (explanation.candidates.length === 0) throw notFound(NO_RECEIPT)
        return ok(200, explanation)
      },
    )

    app.get(
      '/dashboard/api/merchants/:merch_id/orders/:order_id/',
      {
        schema: {
          operationId: 'readMerchantOrder',
          params: MerchantOrderParams,
          response: { 200: envelope(MerchantOrderRecord) },
        },
      },
      async (request) => {
        const { merch_id: merchId } = await requireOwnedMerchant(db, request)
        const { order_id: orderId } = request.params
        const wanted = { merchId, orderId, now: now() }
        const order = await turns.run(merchId, () => explainMerchantOrder(db, wanted))
        if (order === null) throw notFound(`No order ${orderId}`)
        return ok(200, order)
      },
    )
  }
