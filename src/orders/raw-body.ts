/** Reads bodies unchanged, to verify signatures and to store refused reports. */
import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { paced } from '../platform/http/body-pace.ts'
import { parseBodies } from '../platform/http/http-server.ts'
import { validatorCompiler } from '../platform/http/validation.ts'

type App = Parameters<FastifyPluginAsyncTypebox>[0]

/**
 * Within this plugin `request.body` is a Buffer. Handlers parse and check it themselves, and a
 * body's schema is documentation only.
 */
export function addRawBodies(app: App): void {
  app.addHook('preParsing', async (_request, _reply, body) => paced(body as Readable))
  parseBodies(app, (body) => body)
  app.setValidatorCompiler<object>((route) =>
    route.httpPart === 'body' ? (value) => ({ value }) : validatorCompiler(route as never),
  )
}

/** The body's bytes; empty without a body. */
export function rawBody({ body }: { readonly body?: unknown }): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
