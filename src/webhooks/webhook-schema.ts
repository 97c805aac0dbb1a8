/** Wire shapes of webhooks and their deliveries. */
import Type, { type Static } from 'typebox'
import {
  idText,
  orNull,
  smallId,
  TextOrNull,
  Time,
  TimeOrNull,
} from '../platform/http/field-types.ts'
import { formatTimestamp, formatTimestampOrNull } from '../platform/time/timestamp.ts'
import { FAILURES_MAX, RETRIED_HOURS, URL_LENGTH_MAX, WEBHOOK_EVENTS } from './webhook.ts'
import type { DeliveryRow, Webhook } from './webhook-store.ts'

/** Identifies one of an owner's webhooks. */
export const webhookId = { webhook_id: smallId }
export const deliveryId = { delivery_id: idText() }

/** More than exist, so that a repeated name is accepted. */
export const EVENTS_MAX = 16

export const WebhookBody = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: URL_LENGTH_MAX,
    description: 'Where deliveries go: a public http(s) address, without a password in it',
  }),
  events: Type.Array(Type.String({ maxLength: 64 }), {
    minItems: 1,
    maxItems: EVENTS_MAX,
    description: `${WEBHOOK_EVENTS.join(', ')}; payout.ready for publishers only`,
  }),
})

export const WebhookRecord = Type.Object({
  webhook_id: Type.Integer(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  state: Type.String({ description: 'active, disabled' }),
  notice: orNull(Type.String(), 'Why it was switched off'),
  datetime_created: Time,
  datetime_updated: Time,
})

export const CreatedWebhook = Type.Object({
  ...WebhookRecord.properties,
  secret: orNull(Type.String(), 'Signs each delivery; shown this once, null in a repeated answer'),
})

/** The description for receivers (deliver-webhooks.ts). */
export const DELIVERIES_DESCRIPTION = [
  'A delivery is a POST of JSON with event, delivery_id, created_at and data.',
  'X-Souk-Timestamp is the Unix time in whole seconds, X-Souk-Signature the lower-case hex of',
  'HMAC-SHA256 over that timestamp, a dot and the bytes of the body, keyed with the text of the',
  'secret; X-Souk-Event and X-Souk-Delivery repeat event and delivery_id.',
  'Any 2xx answer within ten seconds is a success; redirects are not followed. A failed one is',
  `retried for ${RETRIED_HOURS} hours, with the same delivery_id and a new timestamp. A delivery may`,
  'come twice, and deliveries may come in any order. A webhook is switched off when a delivery',
  `has failed for the last time and ${FAILURES_MAX} tries in a row have failed. It never receives events`,
  'from the time until it is switched on again.',
].join(' ')

/** The contents of notifications (make-notices.ts, key-notices.ts). */
const DATA_DESCRIPTION = [
  'order.*: order_id, checkout_id, merch_id, pub_id, article_id, click_id and locks_at;',
  'order.attributed and order.returned also event_id, revenue_usd and, for a publisher,',
  'earnings_usd, for a merchant commission_usd, which it owes;',
  'order.locked also locked_at, net_revenue_usd and, for a publisher, net_earnings_usd, for a',
  'merchant net_commission_usd: the remaining order, less all returns so far.',
  'payout.ready: statement_id, month and amount_usd, sent to publishers only.',
  'key.used_from_new_place, of a key that was used before, but never from this network (IPv4 /24,',
  'IPv6 /48): token_id, description and used_at.',
  'webhook.test, sent on request: message.',
].join(' ')

export const DeliveryRecord = Type.Object({
  delivery_id: Type.String(),
  event: Type.String(),
  created_at: Time,
  attempts: Type.Integer(),
  delivered_at: TimeOrNull,
  next_attempt_at: TimeOrNull,
  status: orNull(Type.Integer(), 'Of the last answer'),
  error: TextOrNull,
  data: Type.Unknown({ description: DATA_DESCRIPTION }),
  datetime_created: Time,
  datetime_updated: Type.String({
    format: 'date-time',
    description: 'When it was delivered; else when it was created',
  }),
})

export function toWebhookRecord(webhook: Webhook): Static<typeof WebhookRecord> {
  const { webhook_id, url, events, state, notice } = webhook
  return {
    webhook_id,
    url,
    events: [...events],
    state,
    notice,
    datetime_created: formatTimestamp(webhook.datetime_created),
    datetime_updated: formatTimestamp(webhook.datetime_updated),
  }
}

export function toDeliveryRecord(row: DeliveryRow): Static<typeof DeliveryRecord> {
  return {
    delivery_id: row.delivery_id,
    event: row.event,
    created_at: formatTimestamp(row.created_at),
    attempts: row.attempts,
    delivered_at: formatTimestampOrNull(row.delivered_at),
    next_attempt_at: formatTimestampOrNull(row.due_at),
    status: row.status,
    error: row.error,
    data: row.payload,
    datetime_created: formatTimestamp(row.created_at),
    datetime_updated: formatTimestamp(row.delivered_at ?? row.created_at),
  }
}
