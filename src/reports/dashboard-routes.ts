/**
 * The dashboard's payments page: earned, owed, released and paid out amounts, and monthly
 * statements. Registered behind the sign-in (accounts/dashboard-routes.ts).
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { PublisherParams } from '../accounts/schema.ts'
import { requireOwnedPublisher } from '../accounts/session.ts'
import { CLIENT_PATIENCE_MS, FairTurns } from '../platform/concurrency/turns.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { Payments } from './payments-schema.ts'
import { readPayments } from './payments-store.ts'
import { StatementParams, StatementQuery } from './schema.ts'
import { STATEMENT, statementReply } from './statement-reply.ts'

/** Settling a large merchant may take the database seconds, and its connections are shared. */
const PAGES_AT_ONCE = 2

export const dashboardPaymentRoutes =
  ({ db, now }: { readonly db: Db; readonly now: () => Date }): FastifyPluginAsyncTypebox =>
  async (app) => {
    const turns = new FairTurns(PAGES_AT_ONCE, { patienceMs: CLIENT_PATIENCE_MS })
    app.get(
      '/dashboard/api/publishers/:pub_id/payments/',
      {
        schema: {
          operationId: 'readMyPayments',
          params: PublisherParams,
          response: { 200: envelope(Payments) },
        },
      },
      async (request) => {
        const { pub_id: pubId } = await requireOwnedPublisher(db, request)
        return ok(200, await turns.run(pubId, () => readPayments(db, { pubId, now: now() })))
      },
    )

    app.get(
      '/dashboard/api/publishers/:pub_id/statements/:month/',
      {
        schema: {
          operationId: 'readMyStatement',
          params: StatementParams,
          querystring: StatementQuery,
          response: { 200: { description: 'By `format`', content: STATEMENT } },
        },
      },
      async (request, reply) => {
        const { pub_id: pubId } = await requireOwnedPublisher(db, request)
        const { month } = request.params
        const wanted = { pubId, month, ...request.query }
        const { headers, body } = await statementReply({ db, turns }, wanted)
        return reply.headers(headers).send(body)
      },
    )
  }
