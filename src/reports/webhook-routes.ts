/**
 * A publisher's webhooks: made, listed, switched on again, deleted; deliveries seen and replayed.
 *
 * Whose they are is checked by the routes that register these.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { ErrorEnvelope, envelope, ok } from '../platform/envelope.ts'
import { ApiError } from '../platform/errors.ts'
import { createWebhook } from './create-webhook.ts'
import type { ReportDeps } from './report-deps.ts'
import { PublisherParams } from './schema.ts'
import {
  CreatedWebhook,
  DeliveryParams,
  DeliveryRecord,
  toDeliveryRecord,
  toWebhookRecord,
  WebhookBody,
  WebhookParams,
  WebhookRecord,
} from './webhook-schema.ts'
import {
  deleteWebhook,
  enableWebhook,
  listDeliveries,
  listWebhooks,
  replayDelivery,
} from './webhook-store.ts'

const error = { '4xx': ErrorEnvelope, '5xx': ErrorEnvelope }
const security = [{ apiKey: [] }]
const BASE = '/api/v1/publishers/:pub_id/webhooks/'
const Empty = Type.Object({})

export const webhookRoutes =
  ({ db, now }: ReportDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      BASE,
      {
        schema: {
          operationId: 'createWebhook',
          security,
          params: PublisherParams,
          body: WebhookBody,
          response: { 201: envelope(CreatedWebhook), ...error },
        },
      },
      async (request, reply) => {
        const owner = { pubId: request.params.pub_id }
        const { webhook, secret } = await createWebhook(db, { owner, ...request.body })
        reply.status(201)
        return ok(201, { ...toWebhookRecord(webhook), secret })
      },
    )
    app.get(
      BASE,
      {
        schema: {
          operationId: 'listWebhooks',
          security,
          params: PublisherParams,
          response: { 200: envelope(WebhookRecord), ...error },
        },
      },
      async (request) => {
        const found = await listWebhooks(db, { pubId: request.params.pub_id })
        return ok(200, ...found.map(toWebhookRecord))
      },
    )
    await app.register(oneWebhookRoutes({ db, now }))
  }

const oneWebhookRoutes =
  ({ db, now }: Pick<ReportDeps, 'db' | 'now'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      `${BASE}:webhook_id/enable/`,
      {
        schema: {
          operationId: 'enableWebhook',
          security,
          params: WebhookParams,
          response: { 200: envelope(WebhookRecord), ...error },
        },
      },
      async (request) => {
        const { pub_id: pubId, webhook_id: webhookId } = request.params
        const webhook = await enableWebhook(db, { webhookId, owner: { pubId }, now: now() })
        if (webhook === null) throw new ApiError('notFound', { message: 'No such webhook' })
        return ok(200, toWebhookRecord(webhook))
      },
    )
    app.delete(
      `${BASE}:webhook_id/`,
      {
        schema: {
          operationId: 'deleteWebhook',
          security,
          params: WebhookParams,
          response: { 200: envelope(Empty), ...error },
        },
      },
      async (request) => {
        const { pub_id: pubId, webhook_id: webhookId } = request.params
        const isDeleted = await deleteWebhook(db, { webhookId, owner: { pubId } })
        if (!isDeleted) throw new ApiError('notFound', { message: 'No such webhook' })
        return ok<object>(200)
      },
    )
  }

export const deliveryRoutes =
  ({ db, now }: ReportDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      `${BASE}:webhook_id/deliveries/`,
      {
        schema: {
          operationId: 'listDeliveries',
          security,
          params: WebhookParams,
          response: { 200: envelope(DeliveryRecord), ...error },
        },
      },
      async (request) => {
        const { pub_id: pubId, webhook_id: webhookId } = request.params
        const rows = await listDeliveries(db, { webhookId, owner: { pubId } })
        return ok(200, ...rows.map(toDeliveryRecord))
      },
    )
    app.post(
      '/api/v1/publishers/:pub_id/webhook_deliveries/:delivery_id/replay/',
      {
        schema: {
          operationId: 'replayDelivery',
          security,
          params: DeliveryParams,
          response: { 200: envelope(Empty), ...error },
        },
      },
      async (request) => {
        const { pub_id: pubId, delivery_id: deliveryId } = request.params
        const isThere = await replayDelivery(db, { deliveryId, owner: { pubId }, now: now() })
        if (!isThere) throw new ApiError('notFound', { message: 'No such delivery' })
        return ok<object>(200)
      },
    )
  }
