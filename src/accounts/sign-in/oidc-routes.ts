/** The two ends of a sign-in through an identity provider: leaving, and returning. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { ApiError, notFound } from '../../platform/errors/api-errors.ts'
import type { Db } from '../../platform/postgres/postgres.ts'
import { acceptForProven } from '../accept-invitation.ts'
import { OIDC_PATH } from '../invitation.ts'
import { startSession } from '../session.ts'
import { findUserByEmail } from '../store.ts'
import type { LoginLimits } from './login-limits.ts'
import { CALLBACK_PATH, type OidcAttempt, OidcClient, type OidcSettings } from './oidc.ts'
import { beginSession, isSecure } from './session-cookie.ts'

/** People may have to sign in at the provider first. */
const ATTEMPT_SECONDS = 600

export interface OidcDeps {
  readonly db: Db
  readonly baseUrl: string
  readonly oidc: OidcSettings | null
  readonly limits: LoginLimits
  readonly now: () => Date
}

/** Why nobody was signed in; the log-in page explains it. */
type Refusal = 'failed' | 'unverified' | 'unknown'

const START_DESCRIPTION =
  'For browsers: leads to the provider, and from there to the callback, which also accepts the ' +
  'invitation.'

const BeginQuery = Type.Object({
  invitation: Type.Optional(
    Type.String({ maxLength: 100, description: 'The token of an invitation' }),
  ),
})

const Redirect = { 302: Type.Null({ description: 'To the page in `Location`' }) }

export const oidcRoutes =
  (deps: OidcDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { baseUrl, oidc, limits } = deps
    const client = oidc === null ? null : new OidcClient(oidc, baseUrl)
    const options = { config: { cors: 'none' } } as const
    const shared = { tags: ['account'], security: [], response: Redirect }
    app.get(
      OIDC_PATH,
      {
        ...options,
        schema: {
          ...{ operationId: 'beginOidc', summary: 'Sign in through the identity provider' },
          description: START_DESCRIPTION,
          querystring: BeginQuery,
          ...shared,
        },
      },
      async (request, reply) => {
        const provider = requireClient(client)
        limits.spendAddress(request.clientAddress)
        const started = await provider.begin().catch(noted(request, UNREACHABLE))
        if (started === null) return refuse(reply, 'failed')
        const { invitation } = request.query
        const attempt = { ...started.attempt, ...(invitation === undefined ? {} : { invitation }) }
        setAttempt(reply, attempt, baseUrl)
        return reply.redirect(started.url.href)
      },
    )

    app.get(
      CALLBACK_PATH,
      {
        ...options,
        schema: {
          ...{ operationId: 'finishOidc', summary: 'Return from the identity provider' },
          description:
            'Signs in the user who has the provider’s verified e-mail address, and leads to the ' +
            'dashboard. Nobody is signed up here, unless an invitation of that address is accepted.',
          ...shared,
        },
      },
      async (request, reply) => {
        const provider = requireClient(client)
        const attempt = readAttempt(request.cookies[attemptName(baseUrl)])
        reply.clearCookie(attemptName(baseUrl), attemptOptions(baseUrl))
        if (attempt === null) return refuse(reply, 'failed')
        const query = request.url.slice(request.url.indexOf('?'))
        const user = await provider.finish(query, attempt).catch(noted(request, FAILED))
        if (user === null) return refuse(reply, 'failed')
        if (user.email === null || !user.isVerified) return refuse(reply, 'unverified')
        const userAgent = request.headers['user-agent'] ?? ''
        const { email } = user
        await accept(deps, { token: attempt.invitation, email, request })
        const token = await enter(deps, { email, userAgent, request })
        if (token === null) return refuse(reply, 'unknown')
        await beginSession(deps, { request, reply, token })
        return reply.redirect('/dashboard/')
      },
    )
  }

const UNREACHABLE = 'the identity provider could not be reached'
const FAILED = 'a sign-in through the identity provider failed'

/** Logs an error for the operator; the user gets a short reason. */
const noted =
  ({ log }: Pick<FastifyRequest, 'log'>, what: string) =>
  (error: unknown): null => {
    log.warn({ err: error }, what)
    return null
  }

function requireClient(client: OidcClient | null): OidcClient {
  if (client === null) throw notFound('This service has no identity provider')
  return client
}

/** An invitation that cannot be accepted stops nobody from signing in. */
async function accept(
  { db, now }: OidcDeps,
  wanted: {
    readonly token: string | undefined
    readonly email: string
    readonly request: Pick<FastifyRequest, 'id' | 'log'>
  },
): Promise<void> {
  const { token, email, request } = wanted
  if (token === undefined) return
  try {
    await acceptForProven(db, { token, email, now: now(), requestId: request.id })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    request.log.info({ err: error }, 'an invitation was not accepted')
  }
}

/** The token of a new session; null if nobody here has the address, or is suspended. */
async function enter(
  { db, now }: OidcDeps,
  wanted: { email: string; userAgent: string; request: { readonly clientAddress: string } },
): Promise<string | null> {
  const { email, userAgent, request } = wanted
  const user = await findUserByEmail(db, email)
  // PostgreSQL finds `mike@` for `mİke@`, which somebody else may own at the provider.
  if (user === null || user.email.toLowerCase() !== email.toLowerCase()) return null
  return startSession(db, {
    ...{ uid: user.uid, passwordHash: null, userAgent, address: request.clientAddress, now: now() },
  })
}

const refuse = (reply: FastifyReply, reason: Refusal) =>
  reply.redirect(`/dashboard/?sign_in=${reason}`)

const attemptName = (baseUrl: string) => (isSecure(baseUrl) ? '__Host-souk_oidc' : 'souk_oidc')

/** Lax: the browser returns from another site. */
const attemptOptions = (baseUrl: string) =>
  ({ path: '/', httpOnly: true, secure: isSecure(baseUrl), sameSite: 'lax' }) as const

function setAttempt(reply: FastifyReply, attempt: OidcAttempt, baseUrl: string): void {
  const text = Buffer.from(JSON.stringify(attempt)).toString('base64url')
  reply.setCookie(attemptName(baseUrl), text, {
    ...{ ...attemptOptions(baseUrl), maxAge: ATTEMPT_SECONDS },
  })
}

/** Null for a cookie that is not there or was not set here. */
function readAttempt(cookie: string | undefined): OidcAttempt | null {
  try {
    const { state, nonce, verifier, invitation } = JSON.parse(
      Buffer.from(cookie ?? '', 'base64url').toString(),
    ) as Record<string, unknown>
    const isWhole = [state, nonce, verifier].every((part) => typeof part === 'string')
    const also = typeof invitation === 'string' ? { invitation } : {}
    return isWhole ? ({ state, nonce, verifier, ...also } as OidcAttempt) : null
  } catch {
    return null
  }
}
