/** A merchant's settings in a body: the fields of its record, and back from settings. */
import Type, { type Static, type TSchema } from 'typebox'
import { MERCHANT_DEFAULTS, type MerchantSettings } from '../catalog/merchant.ts'
import { orNull } from '../platform/http/field-types.ts'
import { SMALL_ID_MAX } from '../platform/ids.ts'
import { PPM } from '../platform/money/money.ts'
import { fraction, toPpm } from './money-fields.ts'

const setting = <T extends TSchema>(schema: T) => Type.Optional(orNull(schema))

const name = Type.String({ description: '1 to 255 characters' })
const domain = Type.Array(Type.String(), {
  description: 'Domains of its shop; the first one is shown',
})

const OTHERS = {
  uid: setting(
    Type.Integer({
      ...{ minimum: 1, maximum: SMALL_ID_MAX },
      description: 'Owning user; null: nobody',
    }),
  ),
  click_param: setting(Type.String({ description: 'Query parameter that carries the click id' })),
  deep_link: setting(
    Type.String({
      description: 'URL of another network, with `{url_encoded}` and, for the click id, `{cid}`',
    }),
  ),
  window_days: setting(
    Type.Integer({ description: 'How many days after a click orders count, 1 to 90' }),
  ),
  origin: setting(Type.Array(Type.String(), { description: 'Origins of its checkout pages' })),
  post_impression_rate: setting(
    fraction('Commission on orders after a link that was only seen; null: none'),
  ),
  confirm_orders: setting(
    Type.Boolean({ description: 'Orders that only browsers report are held for confirmation' }),
  ),
  allow_second_rate: setting(
    Type.Boolean({ description: 'Its contract allows commissions below the agreed rate' }),
  ),
  default_currency: setting(
    Type.String({ description: 'ISO 4217: of feed prices that name no currency' }),
  ),
}

export const NewMerchantBody = Type.Object({ name, domain, ...OTHERS })

export const MerchantChangesBody = Type.Object({
  name: Type.Optional(name),
  domain: Type.Optional(domain),
  ...OTHERS,
  is_suspended: Type.Optional(Type.Boolean({ description: 'As by `suspend/` and `resume/`' })),
})

export type NewMerchant = Static<typeof NewMerchantBody>
type Body = Omit<Static<typeof MerchantChangesBody>, 'is_suspended'>

/** The settings that a checked body changes; null takes a setting back to its default. */
export function readMerchantBody(body: Body): Partial<MerchantSettings> {
  const rate = body.post_impression_rate
  const changes: Record<keyof MerchantSettings, unknown> = {
    name: body.name,
    domains: body.domain,
    uid: body.uid,
    click_param: body.click_param,
    deep_link: body.deep_link,
    window_days: body.window_days,
    origins: body.origin,
    post_impression_rate_ppm: typeof rate === 'number' ? toPpm(rate) : rate,
    is_confirming: body.confirm_orders,
    allows_second_rate: body.allow_second_rate,
    default_currency: body.default_currency,
  }
  const defaults: Readonly<Record<string, unknown>> = MERCHANT_DEFAULTS
  return withoutUndefined(changes, (field, value) => value ?? defaults[field])
}

/** The body that makes these changes, for a command. */
export function toMerchantBody(changes: Partial<MerchantSettings>): Body {
  const { post_impression_rate_ppm: ppm } = changes
  const body: Record<keyof Body, unknown> = {
    name: changes.name,
    domain: changes.domains,
    uid: changes.uid,
    click_param: changes.click_param,
    deep_link: changes.deep_link,
    window_days: changes.window_days,
    origin: changes.origins,
    post_impression_rate: typeof ppm === 'number' ? ppm / PPM : ppm,
    confirm_orders: changes.is_confirming,
    allow_second_rate: changes.allows_second_rate,
    default_currency: changes.default_currency,
  }
  return withoutUndefined(body, (_, value) => value)
}

/** The fields that are given. Their types are those of the body's schema. */
function withoutUndefined<T>(
  fields: Readonly<Record<string, unknown>>,
  valueFor: (field: string, value: unknown) => unknown,
): T {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([field, value]) => [field, valueFor(field, value)])) as T
}
