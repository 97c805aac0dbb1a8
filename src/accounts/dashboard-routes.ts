/**
 * The dashboard's own calls under /dashboard/api/: list one's publishers, create and disable API
 * keys. They read the session cookie, so no other origin may call them. They are not
 * part of the public interface.
 */
import cookie from '@fastify/cookie'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { notFound } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import { smallId } from '../platform/http/field-types.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { parseTimestamp } from '../platform/time/timestamp.ts'
import { createApiKey } from './create-account.ts'
import { listPublishers } from './publisher-store.ts'
import {
  ApiKeyRecord,
  CreatedKey,
  CreateKeyBody,
  PublisherRecord,
  toApiKeyRecord,
  toPublisherRecord,
} from './schema.ts'
import {
  requireOwnOrigin,
  requireSession,
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

export interface DashboardDeps {
  readonly db: Db
  readonly baseUrl: string
  readonly now: () => Date
}

export const dashboardRoutes =
  ({ db, baseUrl, now }: DashboardDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const cookieName = sessionCookieName(baseUrl.startsWith('https:'))
    await app.register(cookie)
    app.addHook('onRequest', async (request, reply) => {
      reply.header('cache-control', 'no-store')
      requireOwnOrigin(request, baseUrl)
    })

    await app.register(async (session) => {
      session.addHook('onRequest', async (request) => {
        const token = request.cookies[cookieName]
        request.sessionUser = await requireSession(db, { token, now: now() })
      })
      await session.register(loggedInRoutes({ db, now }))
    })
  }

const loggedInRoutes =
  ({ db, now }: Pick<DashboardDeps, 'db' | 'now'>): FastifyPluginAsyncTypebox =>
  async (app) => {
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
