/** Bodies as they were sent: for signatures, and for keeping what is refused word for word. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { parseBodies } from '../platform/http.ts'
import { validatorCompiler } from '../platform/validation.ts'

type App = Parameters<FastifyPluginAsyncTypebox>[0]

/**
 * Within this plugin `request.body` is a Buffer, which handlers parse and check themselves; a
 * body's schema then only documents it.
 */
export function keepRawBodies(app: App): void {
  parseBodies(app, (body) => body)
  app.setValidatorCompiler<object>((route) =>
    route.httpPart === 'body' ? (value) => ({ value }) : validatorCompiler(route as never),
  )
}

/** The body's bytes, none when nothing was sent. */
export function rawBody({ body }: { readonly body?: unknown }): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
