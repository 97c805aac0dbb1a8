/** A publisher's daily figures, their state at earlier times, and their changes. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { requireExistingOwnPublisher } from '../accounts/own-publisher.ts'
import { type KeyGuard, NEEDS_KEY, needPermission } from '../accounts/require-key.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { CLIENT_TIMEOUT_MS, FairLimiter } from '../platform/concurrency/concurrency-limiter.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { parseTimestamp, TIMESTAMP_RULE } from '../platform/time/timestamp.ts'
import { CHANGES_START, CURSOR_RULE, parseCursor } from './change-cursor.ts'
import { listChanges } from './change-store.ts'
import { statsRangeFaults } from './day-range.ts'
import { listStats } from './row-store.ts'
import { ChangesQuery, LIMIT_MAX, Stats, StatsChanges, StatsQuery } from './schema.ts'
import { readStatsQuery } from './stats-query.ts'

/** Each long report keeps a database core busy, and all calls share the pool. */
const REPORTS_AT_ONCE = 2

export interface StatsDeps {
  readonly db: Db
  readonly keys: KeyGuard
}

export const statsRoutes =
  ({ db, keys }: StatsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const limiter = new FairLimiter(REPORTS_AT_ONCE, {
      each: REPORTS_AT_ONCE,
      timeoutMs: CLIENT_TIMEOUT_MS,
    })
    needPermission(app, { keys, permission: 'figures.read' })

    app.get(
      '/api/v1/publishers/:pub_id/stats_by_article_merchant_daily/',
      {
        config: { rules: ({ query }) => statsRangeFaults(query as object) },
        schema: {
          operationId: 'listStats',
          summary: 'Statistics by article and merchant per day',
          security: NEEDS_KEY,
          params: PublisherParams,
          querystring: StatsQuery,
          response: { 200: Stats },
        },
      },
      async (request, reply) => {
        const pubId = request.params.pub_id
        await requireExistingOwnPublisher(db, request, pubId)
        const wanted = readStatsQuery(pubId, request.query)
        const stats = await limiter.run(pubId, () => listStats(db, wanted))
        const date = { date_from: midnight(wanted.dayFrom), date_to: midnight(wanted.dayTo) }
        // The fields of up to 10,000 rows are selected here, so no schema is needed to drop others.
        // Setting a serializer makes Fastify leave the content type to us. It is set last, for
        // successful responses only.
        reply.serializer(JSON.stringify).type('application/json; charset=utf-8')
        return { date, pub_id: pubId, stats }
      },
    )

    app.get(
      '/api/v1/publishers/:pub_id/stats_by_article_merchant_daily/changes/',
      {
        schema: {
          operationId: 'listStatsChanges',
          summary: 'Every row of the statistics that changed since a time, and why',
          security: NEEDS_KEY,
          params: PublisherParams,
          querystring: ChangesQuery,
          response: { 200: StatsChanges },
        },
      },
      async (request) => {
        const pubId = request.params.pub_id
        await requireExistingOwnPublisher(db, request, pubId)
        const { since: text, cursor: after, limit: limitRows = LIMIT_MAX } = request.query
        const since = parseTimestamp(text)
        if (since === null) throw badRequest([{ field: 'since', rule: TIMESTAMP_RULE }])
        const cursor = after === undefined ? CHANGES_START : parseCursor(after)
        if (cursor === null) throw badRequest([{ field: 'cursor', rule: CURSOR_RULE }])
        return limiter.run(pubId, () => listChanges(db, { pubId, since, cursor, limitRows }))
      },
    )
  }

/** The response's form of a day: `2026-03-02 00:00:00`. */
function midnight(day: string): string {
  return `${day} 00:00:00`
}
