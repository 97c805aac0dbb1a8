/** Where a publisher's messages go, and about what. */
import Type, { type Static } from 'typebox'
import { requireMatch } from '../accounts/etag.ts'
import { action, type Operation } from '../accounts/operation.ts'
import { lockPublisher } from '../accounts/publisher-store.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { EMAIL_LENGTH_MAX } from '../accounts/user.ts'
import { newSecret } from '../platform/crypto/secrets.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import { orNull, TimeOrNull } from '../platform/http/field-types.ts'
import { formatTimestampOrNull } from '../platform/time/timestamp.ts'
import { ALERT_KINDS, alertFaults, EMAILS_MAX } from './alert.ts'
import { type AlertRow, readAlerts, saveAlerts } from './alert-store.ts'

const KINDS_DESCRIPTION =
  '`link_stopped`: a link that earned stops earning; `merchant_trouble`: a merchant is out of ' +
  'stock, or owes for more than 30 days; `payout_ready`; `no_tag_traffic`: no page view for 24 ' +
  'hours; `key_from_new_place`: an API key is used from a new place'

export const AlertsBody = Type.Object({
  kinds: Type.Array(Type.Enum([...ALERT_KINDS]), {
    description: KINDS_DESCRIPTION,
    maxItems: ALERT_KINDS.length,
  }),
  emails: Type.Optional(
    Type.Array(Type.String({ maxLength: EMAIL_LENGTH_MAX }), { maxItems: EMAILS_MAX }),
  ),
  webhook_url: Type.Optional(
    orNull(Type.String(), 'Receives a POST of `{"text": …}`, as Slack reads it'),
  ),
})

export const AlertsRecord = Type.Object({
  pub_id: Type.Integer(),
  kinds: Type.Array(Type.Enum([...ALERT_KINDS])),
  emails: Type.Array(Type.String(), { description: 'Without those that unsubscribed' }),
  webhook_url: orNull(Type.String()),
  datetime_created: TimeOrNull,
  datetime_updated: TimeOrNull,
})

const ALERTS = {
  tag: 'publishers',
  path: '/api/v1/publishers/:pub_id/alerts/',
  // A webhook's URL is a secret of its receiver.
  permission: 'alerts.write',
  hasEtag: true,
  params: PublisherParams,
  entry: AlertsRecord,
} as const

export const alertOperations: readonly Operation[] = [
  action({
    ...ALERTS,
    id: 'readAlerts',
    method: 'GET',
    summary: 'Read where messages go, and about what',
    run: async ({ db, params: { pub_id: pubId } }) => [
      toRecord(pubId, await readAlerts(db, pubId)),
    ],
  }),
  action({
    ...ALERTS,
    id: 'updateAlerts',
    method: 'PUT',
    summary: 'Set where messages go, and about what',
    description:
      'All new events of one kind come in one message, each at most once a day. Each mail has a ' +
      'link that unsubscribes its address without a sign-in.',
    body: AlertsBody,
    run: async (call) => {
      const { db, body, params, ifMatch } = call
      const { pub_id: pubId } = params
      await lockPublisher(db, pubId)
      const before = await readAlerts(db, pubId)
      requireMatch(ifMatch, toRecord(pubId, before))
      const settings = {
        kinds: ALERT_KINDS.filter((kind) => body.kinds.includes(kind)),
        emails: [...new Set(body.emails ?? [])],
        webhookUrl: body.webhook_url ?? null,
      }
      const faults = alertFaults(settings)
      if (faults.length > 0) throw badRequest(faults)
      await saveAlerts(db, { pubId, settings, newToken: newSecret })
      const after = await readAlerts(db, pubId)
      const target = `publisher:${pubId}`
      await call.audit({
        action: 'alerts.update',
        target,
        before: withoutSecret(before),
        after: withoutSecret(after),
      })
      return [toRecord(pubId, after)]
    },
  }),
]

function toRecord(pubId: number, row: AlertRow): Static<typeof AlertsRecord> {
  return {
    pub_id: pubId,
    kinds: [...row.kinds],
    emails: [...row.emails],
    webhook_url: row.webhookUrl,
    datetime_created: formatTimestampOrNull(row.createdAt),
    datetime_updated: formatTimestampOrNull(row.updatedAt),
  }
}

/** Who knows a Slack webhook's path can write to its channel. */
function withoutSecret({ kinds, emails, webhookUrl }: AlertRow) {
  const webhook_host = webhookUrl === null ? null : new URL(webhookUrl).host
  return { kinds, emails, webhook_host }
}
