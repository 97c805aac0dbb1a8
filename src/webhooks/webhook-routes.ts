/**
 * Webhooks of a publisher or a merchant: create, list, enable, delete; list and replay deliveries.
 * Each call needs the owner's API key.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { requireExistingOwnPublisher } from '../accounts/own-publisher.ts'
import {
  type KeyGuard,
  NEEDS_KEY,
  needPermission,
  type RightRequest,
} from '../accounts/require-key.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { MerchantParams, requireOwnMerchant } from '../catalog/own-merchant.ts'
import { type Fault, notFound } from '../platform/errors/api-errors.ts'
import { envelope, ok } from '../platform/http/envelope.ts'
import { listOf } from '../platform/http/validation.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { createWebhook } from './create-webhook.ts'
import { DELIVERY_DAYS, type WebhookOwner, webhookFaults } from './webhook.ts'
import {
  CreatedWebhook,
  DELIVERIES_TOLD,
  DeliveryRecord,
  deliveryId,
  EVENTS_MAX,
  toDeliveryRecord,
  toWebhookRecord,
  WebhookBody,
  WebhookRecord,
  webhookId,
} from './webhook-schema.ts'
import {
  deleteWebhook,
  enableWebhook,
  hasWebhook,
  listDeliveries,
  listWebhooks,
  ROWS_MAX,
  replayDelivery,
} from './webhook-store.ts'

const Empty = Type.Object({})

/** The differences between the two kinds of owner. */
interface Party {
  readonly base: string
  readonly noun: '' | 'Merchant' // For operation ids.
  readonly params: typeof PublisherParams | typeof MerchantParams
  readonly ownerOf: (params: object) => WebhookOwner
  /** Throws unless the path's owner belongs to the holder of the key. */
  readonly requireOwn: (db: Db, request: RightRequest, params: object) => Promise<unknown>
}

const PUBLISHER: Party = {
  base: '/api/v1/publishers/:pub_id/',
  noun: '',
  params: PublisherParams,
  ownerOf: (params) => ({ pubId: (params as { pub_id: number }).pub_id }),
  requireOwn: (db, request, params) =>
    requireExistingOwnPublisher(db, request, (params as { pub_id: number }).pub_id),
}

const MERCHANT: Party = {
  base: '/api/v1/merchants/:merch_id/',
  noun: 'Merchant',
  params: MerchantParams,
  ownerOf: (params) => ({ merchId: (params as { merch_id: number }).merch_id }),
  requireOwn: (db, request, params) =>
    requireOwnMerchant(db, request, (params as { merch_id: number }).merch_id),
}

interface Deps {
  readonly db: Db
  readonly keys: KeyGuard
  readonly now: () => Date
}

const noWebhook = () => notFound('No such webhook')

export const webhookRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    await app.register(routesOf(deps, PUBLISHER))
    await app.register(routesOf(deps, MERCHANT))
  }

const routesOf =
  (deps: Deps, party: Party): FastifyPluginAsyncTypebox =>
  async (app) => {
    needPermission(app, { keys: deps.keys, permission: 'webhooks.write' })
    app.addHook('preHandler', async (request) => {
      await party.requireOwn(deps.db, request, request.params as object)
    })
    await app.register(listRoutes(deps, party))
    await app.register(oneWebhookRoutes(deps, party))
    await app.register(deliveryRoutes(deps, party))
  }

const listRoutes =
  ({ db }: Deps, { base, noun, params, ownerOf }: Party): FastifyPluginAsyncTypebox =>
  async (app) => {
    const all = `${base}webhooks/`
    app.post(
      all,
      {
        config: {
          rules: ({ body, params }) => bodyFaults(body as object | null, ownerOf(params as object)),
        },
        schema: {
          operationId: `create${noun}Webhook`,
          summary: 'Create a webhook; the answer alone shows its secret',
          description: DELIVERIES_TOLD,
          security: NEEDS_KEY,
          params,
          body: WebhookBody,
          response: { 201: envelope(CreatedWebhook) },
        },
      },
      async (request, reply) => {
        const owner = ownerOf(request.params)
        const { webhook, secret } = await createWebhook(db, { ...request.body, owner })
        reply.status(201)
        return ok(201, { ...toWebhookRecord(webhook), secret })
      },
    )
    app.get(
      all,
      {
        schema: {
          operationId: `list${noun}Webhooks`,
          summary: 'The webhooks there are',
          security: NEEDS_KEY,
          params,
          response: { 200: envelope(WebhookRecord) },
        },
      },
      async (request) => {
        const found = await listWebhooks(db, ownerOf(request.params))
        return ok(200, ...found.map(toWebhookRecord))
      },
    )
  }

/** Faults that the schema cannot express; wrong types are left to the schema. */
function bodyFaults(
  body: { readonly url?: unknown; readonly events?: unknown } | null,
  owner: WebhookOwner,
): Fault[] {
  const { url, events } = body ?? {}
  const isText = (value: unknown) => typeof value === 'string'
  return webhookFaults({
    owner,
    url: isText(url) ? url : '',
    events: listOf(events, EVENTS_MAX).filter(isText),
  })
}

const oneWebhookRoutes =
  ({ db, now }: Deps, { base, noun, params, ownerOf }: Party): FastifyPluginAsyncTypebox =>
  async (app) => {
    const all = `${base}webhooks/`
    const WebhookParams = Type.Object({ ...params.properties, ...webhookId })
    app.post(
      `${all}:webhook_id/enable/`,
      {
        schema: {
          operationId: `enable${noun}Webhook`,
          summary: 'Switch a webhook on again',
          security: NEEDS_KEY,
          params: WebhookParams,
          response: { 200: envelope(WebhookRecord) },
        },
      },
      async (request) => {
        const { webhook_id: webhookId } = request.params
        const owner = ownerOf(request.params)
        const webhook = await enableWebhook(db, { webhookId, owner, now: now() })
        if (webhook === null) throw noWebhook()
        return ok(200, toWebhookRecord(webhook))
      },
    )
    app.delete(
      `${all}:webhook_id/`,
      {
        schema: {
          operationId: `delete${noun}Webhook`,
          summary: 'Delete a webhook',
          security: NEEDS_KEY,
          params: WebhookParams,
          response: { 200: envelope(Empty) },
        },
      },
      async (request) => {
        const { webhook_id: webhookId } = request.params
        const isDeleted = await deleteWebhook(db, { webhookId, owner: ownerOf(request.params) })
        if (!isDeleted) throw noWebhook()
        return ok<object>(200)
      },
    )
  }

const deliveryRoutes =
  ({ db, now }: Deps, { base, noun, params, ownerOf }: Party): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      `${base}webhooks/:webhook_id/deliveries/`,
      {
        schema: {
          operationId: `list${noun}Deliveries`,
          summary: 'What a webhook was sent, newest first, and how it was answered',
          description: `At most ${ROWS_MAX}, of the last ${DELIVERY_DAYS} days.`,
          security: NEEDS_KEY,
          params: Type.Object({ ...params.properties, ...webhookId }),
          response: { 200: envelope(DeliveryRecord) },
        },
      },
      async (request) => {
        const { webhook_id: webhookId } = request.params
        const owner = ownerOf(request.params)
        if (!(await hasWebhook(db, { webhookId, owner }))) throw noWebhook()
        const rows = await listDeliveries(db, { webhookId, owner })
        return ok(200, ...rows.map(toDeliveryRecord))
      },
    )
    app.post(
      `${base}webhook_deliveries/:delivery_id/replay/`,
      {
        schema: {
          operationId: `replay${noun}Delivery`,
          summary: 'Send a delivery again',
          security: NEEDS_KEY,
          params: Type.Object({ ...params.properties, ...deliveryId }),
          response: { 200: envelope(Empty) },
        },
      },
      async (request) => {
        const { delivery_id } = request.params
        const owner = ownerOf(request.params)
        const isThere = await replayDelivery(db, { deliveryId: delivery_id, owner, now: now() })
        if (!isThere) throw notFound('No such delivery')
        return ok<object>(200)
      },
    )
  }
