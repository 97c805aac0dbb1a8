/**
 * The dashboard's page on auctions without a winner. Registered behind the sign-in
 * (accounts/dashboard-routes.ts).
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { PublisherParams } from '../accounts/schema.ts'
import { requireOwnedPublisher } from '../accounts/session.ts'
import { CLIENT_PATIENCE_MS } from '../platform/concurrency/turns.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { HOUR_MS } from '../platform/time/timestamp.ts'
import { NoFill } from './dashboard-schema.ts'
import { DayRuns, dayFaults } from './day-runs.ts'
import { NoFillQuery } from './result-schema.ts'

/** About 2 s of work. A person does not wait for the minutes that a million auctions take. */
const AUCTIONS_MAX = 20_000

interface DashboardAuctionDeps {
  readonly db: Database
  readonly receiptHours: number
  readonly now: () => Date
}

export const dashboardAuctionRoutes =
  ({ db, receiptHours, now }: DashboardAuctionDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const days = new DayRuns(db) // Separate from programs, which process whole days.
    app.addHook('onClose', () => days.close())
    app.get(
      '/dashboard/api/publishers/:pub_id/no_fill/',
      {
        config: { rules: ({ query }) => dayFaults(query as { date?: unknown }) },
        schema: {
          operationId: 'rankMyNoFill',
          params: PublisherParams,
          querystring: NoFillQuery,
          response: { 200: envelope(NoFill) },
        },
      },
      async (request) => {
        const { pub_id: pubId } = await requireOwnedPublisher(db, request)
        const { date: day } = request.query
        const keptFromMs = now().getTime() - receiptHours * HOUR_MS
        const { reasons, totals, auctions } = await days.run({
          ...{ pubId, day, auctionsMax: AUCTIONS_MAX, run: { kind: 'noFill' } },
          ...{ owner: `publisher ${pubId}`, patienceMs: CLIENT_PATIENCE_MS },
        })
        return ok(200, {
          held: auctions,
          ...totals,
          is_complete: Date.parse(day) >= keptFromMs,
          reasons,
        })
      },
    )
  }
