/**
 * Signing in and out, and new passwords by mail. Unlike operations, these routes are for callers
 * who are not signed in yet, or they set the session's cookie.
 */
import cookie from '@fastify/cookie'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import { ApiError, badRequest } from '../../platform/errors/api-errors.ts'
import { envelope, ok } from '../../platform/http/envelope.ts'
import { orNull } from '../../platform/http/field-types.ts'
import type { Db } from '../../platform/postgres/postgres.ts'
import { formatTimestamp } from '../../platform/time/timestamp.ts'
import { queuePasswordReset } from '../mail-store.ts'
import { PASSWORD_LENGTH_MAX } from '../password.ts'
import {
  logOut,
  readSessionCookie,
  requireCsrfToken,
  requireOwnOrigin,
  requireSession,
  sessionCaller,
} from '../session.ts'
import { EMAIL_LENGTH_MAX, userFaults } from '../user.ts'
import { CODE_LENGTH_MAX } from './factor-operations.ts'
import { describeMe, type MeDeps, MeRecord } from './me-operations.ts'
import type { OidcSettings } from './oidc.ts'
import { oidcRoutes } from './oidc-routes.ts'
import { AuthenticationOptions, AuthenticationResponse } from './passkey.ts'
import { resetPassword } from './password-reset.ts'
import { beginSession, clearSession } from './session-cookie.ts'
import { type FactorNeeded, signIn } from './sign-in.ts'

/** An e-mail address and a password have at most 600 bytes (docs/spec/limits.md#bodies). */
const SIGN_IN_BYTES_MAX = 4_096
const TOKEN_LENGTH_MAX = 100

const Code = (description: string) =>
  Type.Optional(Type.String({ maxLength: CODE_LENGTH_MAX, description }))

export const SignInBody = Type.Object({
  email: Type.Optional(
    Type.String({ maxLength: EMAIL_LENGTH_MAX, description: 'Required without `challenge`' }),
  ),
  password: Type.Optional(
    Type.String({ maxLength: PASSWORD_LENGTH_MAX, description: 'Required without `challenge`' }),
  ),
  challenge: Type.Optional(
    Type.String({
      maxLength: TOKEN_LENGTH_MAX,
      description: 'Of the answer 202, in place of address and password',
    }),
  ),
  totp: Code('The six digits that the authenticator app shows'),
  recovery_code: Code('One of the recovery codes'),
  passkey: Type.Optional(AuthenticationResponse),
})

export const SignInWays = Type.Object({
  password: Type.Boolean(),
  password_reset: Type.Boolean({ description: 'Whether a link for a new password can be sent' }),
  oidc: Type.Boolean({ description: 'Through an identity provider, at `session/oidc/`' }),
})

export const FactorNeededRecord = Type.Object({
  challenge: Type.String({ description: 'Stands for the password in the next call' }),
  second_factors: Type.Array(Type.Enum(['totp', 'passkey', 'recovery_code']), {
    description: 'What the user has; one of them is needed',
  }),
  passkey_options: orNull(
    AuthenticationOptions,
    'For `navigator.credentials.get`, in the form of `@simplewebauthn/browser`',
  ),
  datetime_expires: Type.String({ format: 'date-time', description: 'Of the challenge' }),
})

export const RequestResetBody = Type.Object({
  email: Type.String({ maxLength: EMAIL_LENGTH_MAX }),
})

export const SetPasswordBody = Type.Object({
  token: Type.String({ maxLength: TOKEN_LENGTH_MAX, description: 'Of the link in the mail' }),
  password: Type.String({ maxLength: PASSWORD_LENGTH_MAX }),
})

export interface SessionDeps extends MeDeps {
  readonly db: Db
  readonly now: () => Date
  readonly oidc: OidcSettings | null
  /** Whether a mail server is set. */
  readonly hasMail: boolean
}

const Nothing = envelope(Type.Object({}))

/** What all these routes have in common. */
const shared = (operationId: string, summary: string, description?: string) => ({
  operationId,
  tags: ['account'],
  summary,
  ...(description === undefined ? {} : { description }),
  security: [],
})

export const sessionRoutes =
  (deps: SessionDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    await app.register(cookie)
    app.addHook('onRequest', async (request) => requireOwnOrigin(request, deps.baseUrl))
    await app.register(signInRoutes(deps))
    await app.register(passwordRoutes(deps))
    await app.register(oidcRoutes(deps))
  }

const signInRoutes =
  (deps: SessionDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { db, baseUrl, now } = deps
    const options = { bodyLimit: SIGN_IN_BYTES_MAX, config: { cors: 'none' } } as const

    const { hasMail, isPasswordOff, oidc } = deps
    app.get(
      '/api/v1/session/',
      {
        ...options,
        schema: {
          ...shared('readSignInWays', 'Which ways to sign in there are'),
          response: { 200: envelope(SignInWays) },
        },
      },
      async () => {
        const ways = { password: !isPasswordOff, password_reset: !isPasswordOff && hasMail }
        return ok(200, { ...ways, oidc: oidc !== null })
      },
    )

    app.post(
      '/api/v1/session/',
      {
        ...options,
        schema: {
          ...shared('signIn', 'Sign in', SIGN_IN_TEXT),
          body: SignInBody,
          response: { 200: envelope(MeRecord), 202: envelope(FactorNeededRecord) },
        },
      },
      async (request, reply) => {
        if (deps.isPasswordOff) throw new ApiError('wrongState', { message: PASSWORD_OFF })
        const { body: credentials, clientAddress: address } = request
        const origin = { userAgent: request.headers['user-agent'] ?? '', address, now: now() }
        const signedIn = await signIn(deps, { credentials, origin })
        if (signedIn.kind === 'factor needed') {
          return reply.status(202).send(ok(202, toFactorNeeded(signedIn)))
        }
        const { token } = signedIn
        await beginSession(deps, { request, reply, token })
        const user = await requireSession(db, { token, now: now() })
        return reply.send(ok(200, await describeMe(db, sessionCaller(user, token), deps)))
      },
    )

    app.delete(
      '/api/v1/session/',
      { ...options, schema: { ...shared('signOut', 'Sign out'), response: { 200: Nothing } } },
      async (request, reply) => {
        const token = readSessionCookie(request.headers.cookie, baseUrl)
        if (token !== null) {
          requireCsrfToken(request, token)
          await logOut(db, token)
        }
        clearSession(reply, baseUrl)
        return ok<object>(200)
      },
    )
  }

const SIGN_IN_TEXT =
  'Answers as `GET /api/v1/me/` does and sets the session’s cookie, which lasts a week. A wrong ' +
  'password and an unknown address get the same 401. Where the user has a second factor and none ' +
  'was sent, the answer is 202 with a challenge and no session: send one of `totp`, ' +
  '`recovery_code` and `passkey` with the challenge, or the first two with address and password.'

function toFactorNeeded(needed: FactorNeeded): Static<typeof FactorNeededRecord> {
  const { totp, passkeys, recovery_codes: codes } = needed.factors
  return {
    challenge: needed.challenge,
    second_factors: [
      ...(totp ? (['totp'] as const) : []),
      ...(passkeys > 0 ? (['passkey'] as const) : []),
      ...(codes > 0 ? (['recovery_code'] as const) : []),
    ],
    passkey_options: needed.passkeyOptions,
    datetime_expires: formatTimestamp(needed.expiresAt),
  }
}

const PASSWORD_OFF = 'This service signs in through an identity provider, not with passwords'

const passwordRoutes =
  ({ db, now, limits, hasMail, isPasswordOff }: SessionDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const options = { bodyLimit: SIGN_IN_BYTES_MAX, config: { cors: 'none' } } as const
    app.addHook('preHandler', async () => {
      if (isPasswordOff) throw new ApiError('wrongState', { message: PASSWORD_OFF })
    })

    app.post(
      '/api/v1/session/password_reset/',
      {
        ...options,
        schema: {
          ...shared('requestPasswordReset', 'Ask for a link that sets a new password', RESET_TEXT),
          body: RequestResetBody,
          response: { 202: Nothing },
        },
      },
      async (request, reply) => {
        const { email } = request.body
        const faults = await userFaults({ email })
        if (faults.length > 0) throw badRequest(faults)
        limits.spendReset(request.clientAddress)
        if (hasMail) await queuePasswordReset(db, { email, now: now() })
        else request.log.warn(NO_MAIL)
        return reply.status(202).send(ok<object>(202))
      },
    )

    app.post(
      '/api/v1/session/password/',
      {
        ...options,
        schema: {
          ...shared('setPassword', 'Set a new password with the token of a link', SET_TEXT),
          body: SetPasswordBody,
          response: { 200: Nothing },
        },
      },
      async (request) => {
        limits.spendAddress(request.clientAddress)
        await resetPassword(db, { ...request.body, now: now(), requestId: request.id })
        return ok<object>(200)
      },
    )
  }

const RESET_TEXT =
  'Sends a mail with the link to the user of this address. The answer is the same if there is ' +
  'none. The link works once, within an hour.'

const SET_TEXT =
  'Ends all sessions of the user. A token works once, within an hour; a password that is refused ' +
  'does not use it up.'

const NO_MAIL =
  'a new password was asked for, but no mail can be sent: set SMTP_URL, or use ' +
  '`souk user reset-password`'
