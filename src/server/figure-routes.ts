/** Figures of publishers and merchants, as the dashboard shows them. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { KeyGuard } from '../accounts/require-key.ts'
import { noFillSampleRoute } from '../auction/no-fill-sample-routes.ts'
import { linkSearchRoute } from '../links/link-search-routes.ts'
import type { Node } from '../node/node.ts'
import { merchantOverviewRoutes } from '../reports/merchant-overview-routes.ts'
import { figuresRoutes } from '../stats/figures-routes.ts'

export const figureRoutes =
  (node: Node, shared: { keys: KeyGuard; now: () => Date }): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { config, database: db, edge } = node
    const { receiptHours } = config
    await app.register(linkSearchRoute({ ...shared, db, bases: config }))
    await app.register(figuresRoutes({ ...shared, db }))
    await app.register(noFillSampleRoute({ ...shared, db, receiptHours }))
    await app.register(merchantOverviewRoutes({ ...shared, db, overCap: () => edge.overCap }))
  }
