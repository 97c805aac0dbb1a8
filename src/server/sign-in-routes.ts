/** Signing in, and a user's changes to their own account. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { queueMail } from '../accounts/mail-store.ts'
import { operationRoutes } from '../accounts/operation-routes.ts'
import type { KeyGuard } from '../accounts/require-key.ts'
import { factorOperations } from '../accounts/sign-in/factor-operations.ts'
import { LoginLimits } from '../accounts/sign-in/login-limits.ts'
import { meOperations } from '../accounts/sign-in/me-operations.ts'
import { resetOperations } from '../accounts/sign-in/member-factor-operations.ts'
import { sessionRoutes } from '../accounts/sign-in/session-routes.ts'
import type { Node } from '../node/node.ts'
import type { Mail } from '../platform/net/mail.ts'
import type { Db } from '../platform/postgres/postgres.ts'

/** Queues mail; null where none can be sent. */
export function mailQueue({
  config,
  now,
}: {
  readonly config: Pick<Node['config'], 'mail'>
  readonly now: () => Date
}) {
  if (config.mail === null) return null
  return (tx: Db, mail: Mail) => queueMail(tx, { ...mail, now: now() })
}

export const signInRoutes =
  (
    { config, database: db }: Node,
    { keys, now }: { readonly keys: KeyGuard; readonly now: () => Date },
  ): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { baseUrl, brand, oidc, mail } = config
    const isPasswordOff = oidc?.isRequired === true
    const deps = { baseUrl, brand, isPasswordOff, limits: new LoginLimits(now) }
    const operations = [
      ...meOperations(deps),
      ...factorOperations(deps),
      ...resetOperations({ ...deps, queueMail: mailQueue({ config, now }) }),
    ]
    await app.register(operationRoutes({ db, keys, now }, operations))
    await app.register(sessionRoutes({ ...deps, db, now, oidc, hasMail: mail !== null }))
  }
