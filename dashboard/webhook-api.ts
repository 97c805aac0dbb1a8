/** The API calls on webhooks of a publisher or a merchant, and their deliveries. */
import type { Static } from 'typebox'
import type { Organization } from '../src/accounts/permission.ts'
import type {
  CreatedWebhook,
  DeliveryRecord,
  WebhookRecord,
} from '../src/webhooks/webhook-schema.ts'
import { everything, page, post } from './api.ts'
import { pathTo, remove } from './people-api.ts'

export type Webhook = Static<typeof WebhookRecord>
export type NewWebhook = Static<typeof CreatedWebhook>
export type Delivery = Static<typeof DeliveryRecord>

const PAGE = 20

export const webhooks = {
  list: (at: Organization) => everything<Webhook>(`${pathTo(at)}/webhooks/`),
  create: (at: Organization, body: { url: string; events: readonly string[] }) =>
    post<NewWebhook>(`${pathTo(at)}/webhooks/`, body),
  enable: (at: Organization, id: number) => post<Webhook>(`${one(at, id)}enable/`, {}),
  disable: (at: Organization, id: number) => post<Webhook>(`${one(at, id)}disable/`, {}),
  test: (at: Organization, id: number) => post<Delivery>(`${one(at, id)}test/`, {}),
  remove: (at: Organization, id: number) => remove(one(at, id)),
  deliveries: (at: Organization, id: number, cursor: string | null) =>
    page<Delivery>(
      `${one(at, id)}deliveries/?limit=${PAGE}${cursor === null ? '' : `&cursor=${cursor}`}`,
    ),
  resend: (at: Organization, deliveryId: string) =>
    post<object>(`${pathTo(at)}/webhook_deliveries/${deliveryId}/replay/`, {}),
}

const one = (at: Organization, id: number) => `${pathTo(at)}/webhooks/${id}/`
