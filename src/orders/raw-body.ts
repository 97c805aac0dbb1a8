/** Reads bodies unchanged, to verify signatures and to store refused reports. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { parseBodies } from '../platform/http/http-server.ts'
import { validatorCompiler } from '../platform/http/validation.ts'

type App = Parameters<FastifyPluginAsyncTypebox>[0]

/**
 * Within this plugin `request.body` is a Buffer. Handlers parse and check it themselves, and a
 * body's schema is documentation only.
 */
export function keepRawBodies(app: App): void {
  parseBodies(app, (body) => body)
  app.setValidatorCompiler<object>((route) =>
    route.httpPart === 'body' ? (value) => ({ value }) : validatorCompiler(route as never),
  )
}

/** The body's bytes; empty without a body. */
export function rawBody({ body }: { readonly body?: unknown }): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
