/** One order over the API for its merchant: its cost, and the reason. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { NEEDS_KEY } from '../accounts/require-key.ts'
import { CLIENT_PATIENCE_MS, FairTurns } from '../platform/concurrency/turns.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import {
  MERCHANT_ORDER_TOLD,
  MerchantOrderParams,
  MerchantOrderRecord,
} from './order-record-schema.ts'
import { explainMerchantOrder } from './order-record-store.ts'
import type { ReportDeps } from './report-deps.ts'

/** Whether a locked order is paid requires settling all the merchant's debts and payments. */
const ORDERS_AT_ONCE = 2

/** The routes that register these check the caller's key. */
export const merchantOrderRoute =
  ({ db, now }: Omit<ReportDeps, 'keys'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    const turns = new FairTurns(ORDERS_AT_ONCE, { patienceMs: CLIENT_PATIENCE_MS })
    app.get(
      '/api/v1/merchants/:merch_id/orders/:order_id/',
      {
        schema: {
          operationId: 'explainMerchantOrder',
          summary: 'What an order costs its merchant, and why: rate, terms, clicks, entries',
          description: MERCHANT_ORDER_TOLD,
          security: NEEDS_KEY,
          params: MerchantOrderParams,
          response: { 200: envelope(MerchantOrderRecord) },
        },
      },
      async (request) => {
        const { merch_id: merchId, order_id: orderId } = request.params
        const wanted = { merchId, orderId, now: now() }
        const order = await turns.run(merchId, () => explainMerchantOrder(db, wanted))
        if (order === null) throw notFound(`No order ${orderId}`)
        return ok(200, order)
      },
    )
  }
