/**
 * A merchant's figures as the dashboard shows them: costs, its account with the reason for each
 * entry, and reports that were refused.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type KeyGuard, NEEDS_KEY, needPermission } from '../accounts/require-key.ts'
import { MerchantParams, requireMerchantRight } from '../catalog/own-merchant.ts'
import { listRefusals } from '../orders/intake-store.ts'
import { RefusalRecord, toRefusalRecord } from '../orders/schema.ts'
import { CLIENT_TIMEOUT_MS, FairLimiter } from '../platform/concurrency/concurrency-limiter.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { PAGE_DAYS_MAX, RangeQuery } from '../stats/dashboard-schema.ts'
import { rangeFaults, readDays } from '../stats/day-range.ts'
import { readAccountPage } from './merchant-ledger-store.ts'
import { AccountPage, MerchantOverview } from './merchant-overview-schema.ts'
import { readMerchantOverview } from './merchant-overview-store.ts'
import { ReportQuery } from './schema.ts'

/** Settling a large merchant may take the database seconds, and its connections are shared. */
const PAGES_AT_ONCE = 2
const ENTRIES_MAX = 50
/** Refusals of the merchant's server, and as many of other senders. */
const REFUSALS_MAX = 20

const config = {
  rules: ({ query }: FastifyRequest) => rangeFaults(query as object, PAGE_DAYS_MAX),
}
const AccountQuery = Type.Object({
  ...RangeQuery.properties,
  cursor: ReportQuery.properties.cursor,
})

interface MerchantOverviewDeps {
  readonly db: Db
  readonly keys: KeyGuard
  /** Campaigns whose budgets the pending orders will use up, as this node's auctions see it. */
  readonly overCap: () => ReadonlySet<number>
  readonly now: () => Date
}

export const merchantOverviewRoutes =
  ({ db, keys, overCap, now }: MerchantOverviewDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    needPermission(app, { keys, permission: 'figures.read', hidesIds: true })
    const limiter = new FairLimiter(PAGES_AT_ONCE, { timeoutMs: CLIENT_TIMEOUT_MS })
    app.get(
      '/api/v1/merchants/:merch_id/overview/',
      {
        config,
        schema: {
          operationId: 'readMerchantOverview',
          summary: 'What a merchant paid in a range of days, by campaign, publisher and product',
          security: NEEDS_KEY,
          params: MerchantParams,
          querystring: RangeQuery,
          response: { 200: envelope(MerchantOverview) },
        },
      },
      async (request) => {
        const merchant = await requireMerchantRight(db, request, request.params.merch_id)
        const asked = { merchant, ...readDays(request.query), overCap: overCap(), now: now() }
        return ok(200, await limiter.run(merchant.merch_id, () => readMerchantOverview(db, asked)))
      },
    )

    app.get(
      '/api/v1/merchants/:merch_id/entries/',
      {
        config,
        schema: {
          operationId: 'listMerchantEntries',
          summary: 'Entries of a merchant’s account, newest first, with its balance',
          security: NEEDS_KEY,
          params: MerchantParams,
          querystring: AccountQuery,
          response: { 200: envelope(AccountPage) },
        },
      },
      async (request) => {
        const { merch_id: merchId } = request.params
        await requireMerchantRight(db, request, merchId)
        const { cursor = null } = request.query
        const page = { cursor, limitRows: ENTRIES_MAX, isNewestFirst: true }
        const asked = { merchId, ...readDays(request.query), ...page }
        return ok(200, await limiter.run(merchId, () => readAccountPage(db, asked)))
      },
    )
    await app.register(refusedRoute({ db }))
  }

const refusedRoute =
  ({ db }: Pick<MerchantOverviewDeps, 'db'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/merchants/:merch_id/refused_reports/',
      {
        schema: {
          operationId: 'listRefusedReports',
          summary: 'Reports of orders and returns that were refused lately, newest first',
          security: NEEDS_KEY,
          params: MerchantParams,
          response: { 200: envelope(RefusalRecord) },
        },
      },
      async (request) => {
        const { merch_id: merchId } = request.params
        await requireMerchantRight(db, request, merchId)
        const refused = await listRefusals(db, { merchId, limit: REFUSALS_MAX })
        return ok(200, ...refused.map(toRefusalRecord))
      },
    )
  }
