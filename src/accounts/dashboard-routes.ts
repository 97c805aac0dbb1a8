/**
 * The dashboard's own calls under /dashboard/api/: sign in, list one's publishers, create and
 * disable API keys. They read the session cookie, so no other origin may call them. They are not
 * part of the public interface.
 */
import cookie from '@fastify/cookie'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { ApiError, notFound } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import { smallId } from '../platform/http/field-types.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { parseTimestamp } from '../platform/time/timestamp.ts'
import { createApiKey } from './create-account.ts'
import { LoginLimits } from './login-limits.ts'
import { listPublishers } from './publisher-store.ts'
import {
  ApiKeyRecord,
  CreatedKey,
  CreateKeyBody,
  LoginBody,
  PublisherRecord,
  toApiKeyRecord,
  toPublisherRecord,
  toUserRecord,
  UserRecord,
} from './schema.ts'
import {
  logIn,
  logOut,
  requireOwnOrigin,
  requireSession,
  SESSION_SECONDS,
  type SessionUser,
  sessionCookieName,
  sessionUserOf,
} from './session.ts'
import { disableApiKey, listApiKeys } from './store.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on dashboard routes that need a session. */
    sessionUser?: SessionUser
  }
}

/** An e-mail address and a password have at most 600 bytes (docs/spec/limits.md#bodies). */
const SIGN_IN_BYTES_MAX = 4_096

export interface DashboardDeps {
  readonly db: Db
  readonly baseUrl: string
  readonly brand: string
  readonly now: () => Date
}

export const dashboardRoutes =
  ({ db, baseUrl, brand, now }: DashboardDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const isSecure = baseUrl.startsWith('https:')
    const cookieName = sessionCookieName(isSecure)
    const cookieOptions = {
      path: '/',
      httpOnly: true,
      secure: isSecure,
      sameSite: 'strict',
    } as const
    const limits = new LoginLimits(now)

    await app.register(cookie)
    app.addHook('onRequest', async (request, reply) => {
      reply.header('cache-control', 'no-store')
      requireOwnOrigin(request, baseUrl)
    })

    app.post(
      '/dashboard/api/login/',
      {
        bodyLimit: SIGN_IN_BYTES_MAX,
        schema: { operationId: 'logIn', body: LoginBody, response: { 200: envelope(UserRecord) } },
      },
      async (request, reply) => {
        const { email, password } = request.body
        const session = await limits.run({ address: request.clientAddress, email }, () =>
          logIn(db, { email, password, now: now() }),
        )
        if (session === null) {
          throw new ApiError('notLoggedIn', { message: 'Wrong e-mail address or password' })
        }
        // Otherwise nobody could sign out of this browser's earlier session.
        await logOut(db, request.cookies[cookieName])
        reply.setCookie(cookieName, session.token, { ...cookieOptions, maxAge: SESSION_SECONDS })
        return ok(200, toUserRecord(session.user, { baseUrl, brand }))
      },
    )

    app.post(
      '/dashboard/api/logout/',
      {
        bodyLimit: SIGN_IN_BYTES_MAX,
        schema: { operationId: 'logOut', response: { 200: envelope(Type.Object({})) } },
      },
      async (request, reply) => {
        await logOut(db, request.cookies[cookieName])
        reply.clearCookie(cookieName, cookieOptions)
        return ok<object>(200)
      },
    )

    await app.register(async (session) => {
      session.addHook('onRequest', async (request) => {
        const token = request.cookies[cookieName]
        request.sessionUser = await requireSession(db, { token, now: now() })
      })
      await session.register(loggedInRoutes({ db, baseUrl, brand, now }))
    })
  }

const loggedInRoutes =
  ({ db, now, ...service }: DashboardDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/dashboard/api/me/',
      {
        schema: { operationId: 'readMe', response: { 200: envelope(UserRecord) } },
      },
      async (request) => ok(200, toUserRecord(sessionUserOf(request), service)),
    )

    app.get(
      '/dashboard/api/publishers/',
      {
        schema: {
          operationId: 'listMyPublishers',
          response: { 200: envelope(PublisherRecord) },
        },
      },
      async (request) => {
        const publishers = await listPublishers(db, { uid: sessionUserOf(request).uid })
        return ok(200, ...publishers.map(toPublisherRecord))
      },
    )
    await app.register(keyRoutes({ db, now }))
  }

/** The developer options page: lists, creates and disables a user's keys. */
const keyRoutes =
  ({ db, now }: Pick<DashboardDeps, 'db' | 'now'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/dashboard/api/keys/',
      {
        schema: { operationId: 'listMyKeys', response: { 200: envelope(ApiKeyRecord) } },
      },
      async (request) => {
        const rows = await listApiKeys(db, { uid: sessionUserOf(request).uid })
        return ok(200, ...rows.map(toApiKeyRecord))
      },
    )

    app.post(
      '/dashboard/api/keys/',
      {
        schema: {
          operationId: 'createMyKey',
          body: CreateKeyBody,
          response: { 201: envelope(CreatedKey) },
        },
      },
      async (request, reply) => {
        const { description } = request.body
        const expiresAt = parseTimestamp(request.body.expires ?? '')
        const { uid } = sessionUserOf(request)
        const { key, row } = await createApiKey(db, { uid, description, expiresAt, now: now() })
        reply.status(201)
        return ok(201, { ...toApiKeyRecord(row), key })
      },
    )

    app.post(
      '/dashboard/api/keys/:token_id/disable/',
      {
        schema: {
          operationId: 'disableMyKey',
          params: Type.Object({ token_id: smallId }),
          response: { 200: envelope(ApiKeyRecord) },
        },
      },
      async (request) => {
        const { uid } = sessionUserOf(request)
        const row = await disableApiKey(db, { tokenId: request.params.token_id, uid })
        if (row === null) throw notFound('No such key of yours')
        return ok(200, toApiKeyRecord(row))
      },
    )
  }
