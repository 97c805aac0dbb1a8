/** The screenshot of a check, which is no JSON: for `img` elements of the dashboard. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { requireOrganization } from '../accounts/membership-store.ts'
import { type KeyGuard, NEEDS_KEY, needPermission } from '../accounts/require-key.ts'
import { notFound } from '../platform/errors/api-errors.ts'
import type { Database } from '../platform/postgres/postgres.ts'
import { TAG_CHECK_PATH, TagCheckParams } from './tag-check-operations.ts'
import { findScreenshot } from './tag-check-store.ts'

export const screenshotRoute =
  ({ db, keys }: { db: Database; keys: KeyGuard }): FastifyPluginAsyncTypebox =>
  async (app) => {
    needPermission(app, { keys, permission: 'figures.read', hidesIds: true })
    app.get(
      `${TAG_CHECK_PATH}screenshot/`,
      {
        schema: {
          operationId: 'readTagCheckScreenshot',
          tags: ['publishers'],
          summary: 'The screenshot of a check',
          security: NEEDS_KEY,
          params: TagCheckParams,
          response: {
            200: {
              description: 'The page with outlined links',
              content: { 'image/jpeg': { schema: Type.String({ format: 'binary' }) } },
            },
          },
        },
      },
      async (request, reply) => {
        const { pub_id: pubId, check_id: checkId } = request.params
        await requireOrganization(db, { kind: 'publisher', id: pubId })
        const screenshot = await findScreenshot(db, { pubId, checkId })
        if (screenshot === null) throw notFound(`No screenshot of check ${checkId} is stored`)
        return reply
          .type('image/jpeg')
          .header('cache-control', 'private, max-age=86400, immutable')
          .header('cross-origin-resource-policy', 'same-origin')
          .send(screenshot as never)
      },
    )
  }
