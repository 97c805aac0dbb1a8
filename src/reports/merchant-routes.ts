/** A merchant's API with its user's key: its account and orders. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { holderOf } from '../accounts/require-key.ts'
import { requireOwnMerchant } from '../catalog/own-merchant.ts'
import { merchantLedgerRoutes } from './merchant-ledger-routes.ts'
import { merchantOrderRoute } from './merchant-order-routes.ts'
import type { ReportDeps } from './report-deps.ts'

export const merchantRoutes =
  (deps: ReportDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.addHook('onRequest', deps.keys.require)
    app.addHook('preHandler', async (request) => {
      const { merch_id: merchId } = request.params as { merch_id: number }
      await requireOwnMerchant(deps.db, holderOf(request), merchId)
    })
    await app.register(merchantLedgerRoutes(deps))
    await app.register(merchantOrderRoute(deps))
  }
