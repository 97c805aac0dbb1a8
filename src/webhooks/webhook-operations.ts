/**
 * Webhooks of a publisher or a merchant: create, list, enable, delete; list and replay deliveries.
 * Routes and commands run these.
 */
import Type from 'typebox'
import { cursorId, pageOf } from '../accounts/id-pages.ts'
import { action, list, type Operation } from '../accounts/operation.ts'
import { type OrganizationPath, paramsOf, pathOf } from '../accounts/organization-path.ts'
import type { Organization } from '../accounts/permission.ts'
import { type Fault, notFound, wrongState } from '../platform/errors/api-errors.ts'
import { listOf } from '../platform/http/validation.ts'
import { createWebhook } from './create-webhook.ts'
import { DELIVERY_DAYS, TEST_EVENT, type WebhookOwner, webhookFaults } from './webhook.ts'
import {
  CreatedWebhook,
  DELIVERIES_DESCRIPTION,
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
  disableWebhook,
  enableWebhook,
  findWebhook,
  listDeliveries,
  listWebhookPage,
  queueTest,
  replayDelivery,
  type Webhook,
} from './webhook-store.ts'

export function webhookOperations(): Operation[] {
  return [pathOf('publisher'), pathOf('merchant')].flatMap((path) => [
    createWebhookOf(path),
    listWebhooksOf(path),
    enableWebhookOf(path),
    disableWebhookOf(path),
    testWebhookOf(path),
    deleteWebhookOf(path),
    listDeliveriesOf(path),
    replayDeliveryOf(path),
  ])
}

/** Of operation ids, which began with publishers only. */
const nounOf = ({ kind, noun }: OrganizationPath) => (kind === 'publisher' ? '' : noun)

const specOf = ({ tag }: OrganizationPath) => ({ tag, permission: 'webhooks.write' }) as const

/** Paths without a merchant or publisher have no webhooks. */
function ownerOf({ kind, id }: Organization): WebhookOwner {
  return kind === 'merchant' ? { merchId: id } : { pubId: id ?? 0 }
}

export const createWebhookOf = (path: OrganizationPath) =>
  action({
    ...specOf(path),
    id: `create${nounOf(path)}Webhook`,
    method: 'POST',
    path: `${path.base}/webhooks/`,
    summary: 'Create a webhook; the answer alone shows its secret',
    description: DELIVERIES_DESCRIPTION,
    status: 201,
    secretFields: ['secret'],
    params: paramsOf(path, {}),
    body: WebhookBody,
    faults: ({ body }) => bodyFaults(path, body),
    entry: CreatedWebhook,
    run: async ({ db, organization, body, audit }) => {
      const wanted = { ...body, owner: ownerOf(organization) }
      const { webhook, secret } = await createWebhook(db, wanted)
      await audit({ ...change('create', webhook), after: withoutSecret(webhook) })
      return [{ ...toWebhookRecord(webhook), secret }]
    },
  })

/** Wrong types are left to the schema. */
function bodyFaults({ kind }: OrganizationPath, sent: unknown): Fault[] {
  const { url, events } = (sent ?? {}) as { readonly url?: unknown; readonly events?: unknown }
  const isText = (value: unknown) => typeof value === 'string'
  return webhookFaults({
    owner: kind === 'merchant' ? { merchId: 0 } : { pubId: 0 }, // Only its kind matters.
    url: isText(url) ? url : '',
    events: listOf(events, EVENTS_MAX).filter(isText),
  })
}

const listWebhooksOf = (path: OrganizationPath) =>
  list({
    ...specOf(path),
    id: `list${nounOf(path)}Webhooks`,
    path: `${path.base}/webhooks/`,
    summary: 'List webhooks',
    params: paramsOf(path, {}),
    entry: WebhookRecord,
    run: async ({ db, organization, query }) => {
      const page = { after: cursorId(query), limit: query.limit + 1 }
      const rows = await listWebhookPage(db, { owner: ownerOf(organization), ...page })
      return pageOf(rows, query.limit, {
        idOf: ({ webhook_id: id }) => id,
        toEntry: toWebhookRecord,
      })
    },
  })

export const enableWebhookOf = (path: OrganizationPath) =>
  action({
    ...specOf(path),
    id: `enable${nounOf(path)}Webhook`,
    method: 'POST',
    path: `${path.base}/webhooks/:webhook_id/enable/`,
    summary: 'Switch a webhook on again, and send its waiting deliveries',
    params: paramsOf(path, webhookId),
    entry: WebhookRecord,
    run: async ({ db, organization, params, now, audit }) => {
      const wanted = { webhookId: params.webhook_id, owner: ownerOf(organization) }
      const before = await findWebhook(db, wanted)
      const webhook = await enableWebhook(db, { ...wanted, now })
      if (before === null || webhook === null) throw noWebhook(wanted)
      await audit({
        ...change('enable', webhook),
        before: { state: before.state },
        after: { state: webhook.state },
      })
      return [toWebhookRecord(webhook)]
    },
  })

const disableWebhookOf = (path: OrganizationPath) =>
  action({
    ...specOf(path),
    id: `disable${nounOf(path)}Webhook`,
    method: 'POST',
    path: `${path.base}/webhooks/:webhook_id/disable/`,
    summary: 'Switch a webhook off; its waiting deliveries stay until it is enabled',
    description: 'Events from then on are never sent, also not after it is enabled.',
    params: paramsOf(path, webhookId),
    entry: WebhookRecord,
    run: async ({ db, organization, params, audit }) => {
      const wanted = { webhookId: params.webhook_id, owner: ownerOf(organization) }
      const before = await findWebhook(db, wanted)
      if (before === null) throw noWebhook(wanted)
      await disableWebhook(db, { ...wanted, notice: 'Switched off by a person.' })
      const webhook = await findWebhook(db, wanted)
      if (webhook === null) throw noWebhook(wanted)
      await audit({
        ...change('disable', webhook),
        before: { state: before.state },
        after: { state: webhook.state },
      })
      return [toWebhookRecord(webhook)]
    },
  })

const testWebhookOf = (path: OrganizationPath) =>
  action({
    ...specOf(path),
    id: `test${nounOf(path)}Webhook`,
    method: 'POST',
    path: `${path.base}/webhooks/:webhook_id/test/`,
    summary: 'Send a test event to a webhook',
    description:
      `A worker sends it within a minute, as \`${TEST_EVENT}\`, signed and retried as any other. ` +
      '409 while the webhook is disabled.',
    status: 202,
    params: paramsOf(path, webhookId),
    entry: DeliveryRecord,
    run: async ({ db, organization, params, now, audit }) => {
      const wanted = { webhookId: params.webhook_id, owner: ownerOf(organization) }
      const webhook = await findWebhook(db, wanted)
      if (webhook === null) throw noWebhook(wanted)
      if (webhook.state === 'disabled') {
        throw wrongState({ field: 'webhook_id', rule: 'is disabled: enable it first' })
      }
      const delivery = await queueTest(db, { webhookId: webhook.webhook_id, now })
      if (delivery === null) throw noWebhook(wanted)
      await audit({ ...change('test', webhook), after: { delivery_id: delivery.delivery_id } })
      return [toDeliveryRecord(delivery)]
    },
  })

export const deleteWebhookOf = (path: OrganizationPath) =>
  action({
    ...specOf(path),
    id: `delete${nounOf(path)}Webhook`,
    method: 'DELETE',
    path: `${path.base}/webhooks/:webhook_id/`,
    summary: 'Delete a webhook with its deliveries',
    params: paramsOf(path, webhookId),
    entry: Type.Object({}),
    run: async ({ db, organization, params, audit }) => {
      const wanted = { webhookId: params.webhook_id, owner: ownerOf(organization) }
      const webhook = await findWebhook(db, wanted)
      if (webhook === null || !(await deleteWebhook(db, wanted))) throw noWebhook(wanted)
      await audit({ ...change('delete', webhook), before: withoutSecret(webhook) })
      return []
    },
  })

const listDeliveriesOf = (path: OrganizationPath) =>
  list({
    ...specOf(path),
    id: `list${nounOf(path)}Deliveries`,
    path: `${path.base}/webhooks/:webhook_id/deliveries/`,
    summary: 'List the deliveries of a webhook and their answers, the newest first',
    description: `Of the last ${DELIVERY_DAYS} days.`,
    params: paramsOf(path, webhookId),
    entry: DeliveryRecord,
    run: async ({ db, organization, params, query }) => {
      const wanted = { webhookId: params.webhook_id, owner: ownerOf(organization) }
      if ((await findWebhook(db, wanted)) === null) throw noWebhook(wanted)
      const page = { before: cursorId(query), limit: query.limit + 1 }
      return pageOf(await listDeliveries(db, { ...wanted, ...page }), query.limit, {
        idOf: ({ delivery_id: id }) => id,
        toEntry: toDeliveryRecord,
      })
    },
  })

export const replayDeliveryOf = (path: OrganizationPath) =>
  action({
    ...specOf(path),
    id: `replay${nounOf(path)}Delivery`,
    method: 'POST',
    path: `${path.base}/webhook_deliveries/:delivery_id/replay/`,
    summary: 'Send a delivery again',
    params: paramsOf(path, deliveryId),
    entry: Type.Object({}),
    run: async ({ db, organization, params, now, audit }) => {
      const { delivery_id } = params
      const owner = ownerOf(organization)
      const webhookId = await replayDelivery(db, { deliveryId: delivery_id, owner, now })
      if (webhookId === null) throw notFound(`No delivery ${delivery_id}`)
      await audit({ ...change('replay', { webhook_id: webhookId }), after: { delivery_id } })
      return []
    },
  })

const noWebhook = ({ webhookId: id }: { readonly webhookId: number }) =>
  notFound(`No webhook ${id}`)

function change(verb: string, { webhook_id }: Pick<Webhook, 'webhook_id'>) {
  return { action: `webhook.${verb}`, target: `webhook:${webhook_id}` }
}

/** A receiver may recognize its sender by the path of the URL alone. */
function withoutSecret({ url, events }: Webhook) {
  return { host: new URL(url).host, events }
}
