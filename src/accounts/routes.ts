/** Returns the record of the API key in use. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ApiError } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import { holderOf, type KeyGuard, NEEDS_KEY, needPermission } from './require-key.ts'
import { ApiKeyRecord, toApiKeyRecord } from './schema.ts'

export const accountRoutes =
  ({ keys }: { keys: KeyGuard }): FastifyPluginAsyncTypebox =>
  async (app) => {
    needPermission(app, { keys, permission: null })
    app.get(
      '/api/v1/tokeninfo/',
      {
        schema: {
          operationId: 'readApiKey',
          summary: 'Read API key information',
          security: NEEDS_KEY,
          response: { 200: envelope(ApiKeyRecord) },
        },
      },
      async (request) => {
        const { record } = holderOf(request)
        if (record === null) throw new ApiError('invalidApiKey') // A session is no key.
        return ok(200, toApiKeyRecord(record))
      },
    )
  }
