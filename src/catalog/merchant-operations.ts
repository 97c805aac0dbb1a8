/** A merchant's own settings and its postback secret, as operations of the management API. */
import Type, { type Static } from 'typebox'
import { requireMatch } from '../accounts/etag.ts'
import { action, type Operation } from '../accounts/operation.ts'
import { ApiError } from '../platform/errors/api-errors.ts'
import { orNull, TextOrNull, Time } from '../platform/http/field-types.ts'
import { DAY_MS, formatTimestamp, formatTimestampOrNull } from '../platform/time/timestamp.ts'
import { MERCHANT_DEFAULTS, type MerchantSettings } from './merchant.ts'
import { toMerchantRecord } from './merchant-record.ts'
import {
  FORMER_SECRETS_MAX,
  lockMerchant,
  type Merchant,
  replaceSecret,
  requireMerchant,
  updateMerchant,
} from './merchant-store.ts'
import { MerchantParams } from './own-merchant.ts'

/** How long a replaced secret still signs: time enough to change it on every server of a shop. */
const FORMER_SECRET_MS = DAY_MS

export const SettingsRecord = Type.Object({
  merch_id: Type.Integer(),
  name: Type.String(),
  domain: Type.Array(Type.String(), { description: 'Domains of the shop; the first one is shown' }),
  click_param: Type.String({ description: 'The query parameter that carries the click id' }),
  deep_link: orNull(
    Type.String(),
    'URL of another network that leads to the shop, with `{url_encoded}` and perhaps `{cid}`',
  ),
  window_days: Type.Integer({ description: 'How many days after a click an order counts' }),
  origin: Type.Array(Type.String(), {
    description: 'Origins of further pages whose checkout calls are accepted',
  }),
  default_currency: orNull(Type.String(), 'ISO 4217: of feed prices that name no currency'),
  confirm_orders: Type.Boolean({
    description:
      'Whether orders that only browsers report are held until the shop’s server, a file or a ' +
      'person confirms them',
  }),
  post_impression_rate: orNull(
    Type.Number(),
    'Commission, a fraction of the order, after a link that was only seen; set by the network',
  ),
  allow_second_rate: Type.Boolean({
    description: 'Whether campaigns may pay less than their rate; set by the network',
  }),
  former_secret_until: orNull(Time, 'Until when a replaced postback secret still works'),
  datetime_created: Time,
  datetime_updated: Time,
})

/** The settings that a merchant changes itself; the others are its contract with the network. */
export const SettingsBody = Type.Object({
  name: Type.Optional(Type.String()),
  domain: Type.Optional(Type.Array(Type.String())),
  click_param: Type.Optional(TextOrNull),
  deep_link: Type.Optional(TextOrNull),
  window_days: Type.Optional(orNull(Type.Integer())),
  origin: Type.Optional(orNull(Type.Array(Type.String()))),
  default_currency: Type.Optional(TextOrNull),
  confirm_orders: Type.Optional(orNull(Type.Boolean())),
})

const SETTINGS_PATH = '/api/v1/merchants/:merch_id/settings/'

const readSettings = action({
  id: 'readMerchantSettings',
  tag: 'merchants',
  method: 'GET',
  path: SETTINGS_PATH,
  summary: 'The settings of a merchant',
  permission: 'figures.read',
  hasEtag: true,
  params: MerchantParams,
  entry: SettingsRecord,
  run: async ({ db, params, now }) => [
    toSettingsRecord(await requireMerchant(db, params.merch_id), now),
  ],
})

const updateSettings = action({
  id: 'updateMerchantSettings',
  tag: 'merchants',
  method: 'PATCH',
  path: SETTINGS_PATH,
  summary: 'Change settings of a merchant',
  description: 'Fields that are not sent stay as they are; null sets one to its default.',
  permission: 'settings.write',
  hasEtag: true,
  params: MerchantParams,
  body: SettingsBody,
  entry: SettingsRecord,
  run: async ({ db, params, body, now, ifMatch, audit }) => {
    const { merch_id: merchId } = params
    const before = toSettingsRecord(await lockMerchant(db, merchId), now)
    requireMatch(ifMatch, before)
    const changes = readChanges(body)
    const after = toSettingsRecord(await updateMerchant(db, { merchId, changes }), now)
    await audit({ action: 'settings.update', target: `merchant:${merchId}`, before, after })
    return [after]
  },
})

const renewPostbackSecret = action({
  id: 'renewPostbackSecret',
  tag: 'merchants',
  method: 'POST',
  path: '/api/v1/merchants/:merch_id/secrets/postback/',
  summary: 'Make a new postback secret',
  description: 'The answer shows it once. The old secret works for another 24 hours.',
  permission: 'secrets.write',
  status: 201,
  secretFields: ['postback_secret'],
  params: MerchantParams,
  entry: Type.Object({
    merch_id: Type.Integer(),
    postback_secret: orNull(
      Type.String(),
      'Shown only in this answer; null in a repeated answer to the same `Idempotency-Key`',
    ),
    former_secret_until: Type.String({
      format: 'date-time',
      description: 'Until then the old secret works as well',
    }),
    datetime_created: Time,
    datetime_updated: Time,
  }),
  run: async ({ db, params, now, audit }) => {
    const { merch_id: merchId } = params
    const { former_secrets } = await lockMerchant(db, merchId)
    const inUse = former_secrets.filter(({ ends_at_ms }) => ends_at_ms > now.getTime())
    if (inUse.length >= FORMER_SECRETS_MAX) {
      const message = `${FORMER_SECRETS_MAX} replaced secrets still work; the first one ends ${untilText(inUse.at(-1))}`
      throw new ApiError('wrongState', { message })
    }
    const endsAt = new Date(now.getTime() + FORMER_SECRET_MS)
    const secret = await replaceSecret(db, { merchId, now, endsAt })
    const until = formatTimestamp(endsAt)
    await audit({
      action: 'secret.renew',
      target: `merchant:${merchId}`,
      after: { former_secret_until: until },
    })
    const at = formatTimestamp(now)
    return [
      {
        merch_id: merchId,
        postback_secret: secret,
        former_secret_until: until,
        datetime_created: at,
        datetime_updated: at,
      },
    ]
  },
})

export const merchantOperations = (): Operation[] => [
  readSettings,
  updateSettings,
  renewPostbackSecret,
]

function toSettingsRecord(merchant: Merchant, now: Date): Static<typeof SettingsRecord> {
  const { uid, feed_imported_at, feed_url, feed_error, ...settings } = toMerchantRecord(merchant)
  const [last] = merchant.former_secrets
  const isInUse = last !== undefined && last.ends_at_ms > now.getTime()
  return {
    ...settings,
    former_secret_until: formatTimestampOrNull(isInUse ? new Date(last.ends_at_ms) : null),
  }
}

function untilText(secret: { readonly ends_at_ms: number } | undefined): string {
  return secret === undefined ? 'now' : formatTimestamp(new Date(secret.ends_at_ms))
}

/** Settings by the names of the record; null takes the default. */
function readChanges(body: Static<typeof SettingsBody>): Partial<MerchantSettings> {
  const changes = {
    name: body.name,
    domains: body.domain,
    click_param: body.click_param,
    deep_link: body.deep_link,
    window_days: body.window_days,
    origins: body.origin,
    default_currency: body.default_currency,
    is_confirming: body.confirm_orders,
  }
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  const defaults: Readonly<Record<string, unknown>> = MERCHANT_DEFAULTS
  return Object.fromEntries(
    given.map(([name, value]) => [name, value ?? defaults[name]]),
  ) as Partial<MerchantSettings>
}
