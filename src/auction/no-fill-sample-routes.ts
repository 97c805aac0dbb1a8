/**
 * Why auctions of a day had no winner, from as many of them as a person waits for: the dashboard's
 * page on unfilled auctions.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { requireOwnPublisher } from '../accounts/own-publisher.ts'
import { type KeyGuard, NEEDS_KEY, needPermission } from '../accounts/require-key.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { CLIENT_TIMEOUT_MS } from '../platform/concurrency/concurrency-limiter.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { HOUR_MS } from '../platform/time/timestamp.ts'
import { NoFill } from './dashboard-schema.ts'
import { DayRuns, dayFaults } from './day-runs.ts'
import { NoFillQuery } from './result-schema.ts'

/** About 2 s of work. A person does not wait for the minutes that a million auctions take. */
const AUCTIONS_MAX = 20_000

interface SampleDeps {
  readonly db: Database
  readonly keys: KeyGuard
  readonly receiptHours: number
  readonly now: () => Date
}

export const noFillSampleRoute =
  ({ db, keys, receiptHours, now }: SampleDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    needPermission(app, { keys, permission: 'figures.read', hidesIds: true })
    const days = new DayRuns(db) // Separate from programs, which process whole days.
    app.addHook('onClose', () => days.close())
    app.get(
      '/api/v1/publishers/:pub_id/no_fill_sample/',
      {
        config: { rules: ({ query }) => dayFaults(query as { date?: unknown }) },
        schema: {
          operationId: 'sampleNoFill',
          summary: 'Why links went unfilled on a day, from at most 20,000 auctions',
          security: NEEDS_KEY,
          params: PublisherParams,
          querystring: NoFillQuery,
          response: { 200: envelope(NoFill) },
        },
      },
      async (request) => {
        const { pub_id: pubId } = await requireOwnPublisher(db, request, request.params.pub_id)
        const { date: day } = request.query
        const keptFromMs = now().getTime() - receiptHours * HOUR_MS
        const { reasons, totals, auctions } = await days.run({
          ...{ pubId, day, auctionsMax: AUCTIONS_MAX, run: { kind: 'noFill' } },
          ...{ owner: `publisher ${pubId}`, timeoutMs: CLIENT_TIMEOUT_MS },
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
