/** A publisher's settings in a body: the fields of its record, and back from settings. */
import Type, { type Static, type TSchema } from 'typebox'
import {
  CATEGORY_FLOOR_RULE,
  formatCategoryFloor,
  parseCategoryFloor,
} from '../accounts/category-floor.ts'
import {
  CONSENT_DEFAULTS,
  LINKMATE_SCOPES,
  PUBLISHER_DEFAULTS,
  type PublisherSettings,
} from '../accounts/publisher.ts'
import { orNull, smallId } from '../platform/http/field-types.ts'
import { SMALL_ID_MAX } from '../platform/ids.ts'
import { formatExact, PPM } from '../platform/money/money.ts'
import { dollars, fraction, toMicros, toPpm } from './money-fields.ts'

const FLOOR_LENGTH_MAX = 64

const CategoryFloorText = Type.Refine(
  Type.String({ maxLength: FLOOR_LENGTH_MAX }),
  (value) => typeof value !== 'string' || parseCategoryFloor(value) !== null,
  () => CATEGORY_FLOOR_RULE,
)

const name = Type.String({ description: '1 to 255 characters' })
const slug = Type.String({ description: 'Short name in URLs, unique in any case' })
const uid = Type.Integer({ minimum: 1, maximum: SMALL_ID_MAX, description: 'Owning user' })

/** May be left out; null takes the default. */
const setting = <T extends TSchema>(schema: T) => Type.Optional(orNull(schema))

const OTHERS = {
  partner: setting(Type.Boolean({ description: 'Member of the partner program' })),
  share: setting(fraction('Its part of each price, 0 to 1')),
  domain: setting(Type.Array(Type.String(), { description: 'Domains of its own pages' })),
  floor: setting(dollars('Least price of a click')),
  category_floor: setting(
    Type.Array(CategoryFloorText, { description: '`222:GB=0.10`: category, country, US dollars' }),
  ),
  tolerance: setting(fraction('How much more expensive an offer may be, 0 to 0.2')),
  beta: setting(Type.Number({ description: 'Weight of a lower price for the reader, 0 to 3' })),
  epsilon: setting(fraction('Share of auctions that explore, 0 to 0.1')),
  allow_merchant: setting(
    Type.Array(smallId, { description: 'Only these merchants; empty: all of them' }),
  ),
  block_merchant: setting(Type.Array(smallId, { description: 'Never these merchants' })),
  linkmate_scope: setting(Type.Enum([...LINKMATE_SCOPES])),
  consent_default: setting(Type.Enum([...CONSENT_DEFAULTS])),
  allow_host: setting(
    Type.Array(Type.String(), { description: 'Other hosts that its links may lead to' }),
  ),
  require_price: setting(Type.Boolean({ description: 'Only offers whose price is known' })),
  time_zone: setting(Type.String({ maxLength: 64, description: 'IANA name; UTC by default' })),
}

export const NewPublisherBody = Type.Object({ name, slug, uid, ...OTHERS })

export const PublisherChangesBody = Type.Object({
  name: Type.Optional(name),
  slug: Type.Optional(slug),
  uid: Type.Optional(uid),
  ...OTHERS,
  is_suspended: Type.Optional(Type.Boolean({ description: 'As by `suspend/` and `resume/`' })),
})

/** What creates a publisher: name, slug and user are required. */
export type NewPublisher = Static<typeof NewPublisherBody>
type Body = Omit<Static<typeof PublisherChangesBody>, 'is_suspended'>

/** The settings that a checked body changes; null takes a setting back to its default. */
export function readPublisherBody(body: Body): Partial<PublisherSettings> {
  const changes: Partial<PublisherSettings> = {}
  const set = <Name extends keyof typeof PUBLISHER_DEFAULTS, Value>(
    field: Name,
    value: Value | null | undefined,
    read: (value: Value) => PublisherSettings[Name],
  ) => {
    if (value === undefined) return
    changes[field] = value === null ? PUBLISHER_DEFAULTS[field] : read(value)
  }
  set('is_partner', body.partner, asIs)
  set('share_ppm', body.share, toPpm)
  set('domains', body.domain, asIs)
  set('floor_micros', body.floor, toMicros)
  set('category_floors', body.category_floor, (texts) =>
    texts.flatMap((text) => parseCategoryFloor(text) ?? []),
  )
  set('tolerance_ppm', body.tolerance, toPpm)
  set('beta', body.beta, asIs)
  set('epsilon_ppm', body.epsilon, toPpm)
  set('allow_merchants', body.allow_merchant, asIs)
  set('block_merchants', body.block_merchant, asIs)
  set('linkmate_scope', body.linkmate_scope, asIs)
  set('consent_default', body.consent_default, asIs)
  set('allow_hosts', body.allow_host, asIs)
  set('is_price_required', body.require_price, asIs)
  set('time_zone', body.time_zone, asIs)
  const named = { name: body.name, slug: body.slug, uid: body.uid }
  const given = Object.entries(named).filter(([, value]) => value !== undefined)
  return { ...changes, ...Object.fromEntries(given) }
}

const asIs = <T>(value: T) => value

/** The body that makes these changes, for a command. */
export function toPublisherBody(changes: Partial<PublisherSettings>): Body {
  const { share_ppm, floor_micros, tolerance_ppm, epsilon_ppm } = changes
  const body = {
    name: changes.name,
    slug: changes.slug,
    uid: changes.uid,
    partner: changes.is_partner,
    share: share_ppm === undefined ? undefined : share_ppm / PPM,
    domain: changes.domains && [...changes.domains],
    floor: floor_micros === undefined ? undefined : formatExact(floor_micros),
    category_floor: changes.category_floors?.map(formatCategoryFloor),
    tolerance: tolerance_ppm === undefined ? undefined : tolerance_ppm / PPM,
    beta: changes.beta,
    epsilon: epsilon_ppm === undefined ? undefined : epsilon_ppm / PPM,
    allow_merchant: changes.allow_merchants && [...changes.allow_merchants],
    block_merchant: changes.block_merchants && [...changes.block_merchants],
    linkmate_scope: changes.linkmate_scope,
    consent_default: changes.consent_default,
    allow_host: changes.allow_hosts && [...changes.allow_hosts],
    require_price: changes.is_price_required,
    time_zone: changes.time_zone,
  }
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as Body
}
