/** Signing in, and what one changes about oneself. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { operationRoutes } from '../accounts/operation-routes.ts'
import type { KeyGuard } from '../accounts/require-key.ts'
import { LoginLimits } from '../accounts/sign-in/login-limits.ts'
import { meOperations } from '../accounts/sign-in/me-operations.ts'
import { sessionRoutes } from '../accounts/sign-in/session-routes.ts'
import type { Node } from '../node/node.ts'

export const signInRoutes =
  (
    { config, database: db }: Node,
    { keys, now }: { readonly keys: KeyGuard; readonly now: () => Date },
  ): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { baseUrl, brand, oidc, mail } = config
    const isPasswordOff = oidc?.isRequired === true
    const deps = { baseUrl, brand, isPasswordOff, limits: new LoginLimits(now) }
    await app.register(operationRoutes({ db, keys, now }, meOperations(deps)))
    await app.register(sessionRoutes({ ...deps, db, now, hasMail: mail !== null }))
  }
