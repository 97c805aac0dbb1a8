/** The wrapper redirects of a publisher's pages that name no known publisher. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { requireExistingOwnPublisher } from '../accounts/own-publisher.ts'
import { type KeyGuard, NEEDS_KEY, needPermission } from '../accounts/require-key.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { UnattributedRedirects } from './schema.ts'
import { listUnattributedOf, toUnattributed } from './unattributed-store.ts'

export interface UnattributedDeps {
  readonly db: Db
  readonly keys: KeyGuard
  readonly now: () => Date
}

export const unattributedRoute =
  ({ db, keys, now }: UnattributedDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    needPermission(app, { keys, permission: 'figures.read' })
    app.get(
      '/api/v1/publishers/:pub_id/unattributed_redirects/',
      {
        schema: {
          security: NEEDS_KEY,
          operationId: 'listUnattributedRedirects',
          summary: 'Wrapper redirects of 30 days on your pages that name no known publisher',
          params: PublisherParams,
          response: { 200: envelope(UnattributedRedirects) },
        },
      },
      async (request) => {
        const { pub_id: pubId } = request.params
        const publisher = await requireExistingOwnPublisher(db, request, pubId)
        const rows = await listUnattributedOf(db, { ...publisher, now: now() })
        return ok(200, ...rows.map(toUnattributed))
      },
    )
  }
