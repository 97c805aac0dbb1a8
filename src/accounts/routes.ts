/** Returns the record of the API key in use. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { envelope, ok } from '../platform/http/envelope.ts'
import { holderOf, type KeyGuard, NEEDS_KEY } from './require-key.ts'
import { ApiKeyRecord, toApiKeyRecord } from './schema.ts'

export const accountRoutes =
  ({ keys }: { keys: KeyGuard }): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/tokeninfo/',
      {
        onRequest: keys.require,
        schema: {
          operationId: 'readApiKey',
          summary: 'Read API key information',
          security: NEEDS_KEY,
          response: { 200: envelope(ApiKeyRecord) },
        },
      },
      async (request) => ok(200, toApiKeyRecord(holderOf(request).record)),
    )
  }
