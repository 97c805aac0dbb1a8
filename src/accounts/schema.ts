/** Wire shapes of accounts: API key records and the dashboard's own calls. */
import Type, { type Static } from 'typebox'
import { orNull } from '../platform/http/field-types.ts'
import { formatExact, PPM } from '../platform/money/money.ts'
import { formatTimestamp, formatTimestampOrNull } from '../platform/time/timestamp.ts'
import { formatCategoryFloor } from './category-floor.ts'
import { boundOrganization } from './membership-store.ts'
import { ORGANIZATION_KINDS, PERMISSIONS } from './permission.ts'
import type { Publisher } from './publisher-store.ts'
import type { ApiKeyRow } from './store.ts'

const Timestamp = Type.String({ format: 'date-time', description: 'UTC, whole seconds, Z' })
const TimestampOrNull = orNull(Timestamp)

/** An organization: `id` is a `pub_id` or a `merch_id`, null for the network. */
export const OrganizationRecord = Type.Object({
  kind: Type.Enum([...ORGANIZATION_KINDS]),
  id: orNull(Type.Integer()),
})

/** docs/spec/interface.md */
export const ApiKeyRecord = Type.Object({
  token_id: Type.Integer(),
  uid: Type.Integer({ description: 'Owning user' }),
  description: Type.String({ description: 'Label of the key' }),
  datetime_created: Timestamp,
  datetime_updated: Timestamp,
  datetime_active: Timestamp,
  datetime_expires: TimestampOrNull,
  datetime_last_used: TimestampOrNull,
  is_enabled_by_user: Type.Boolean(),
  scopes: orNull(
    Type.Array(Type.Enum([...PERMISSIONS])),
    'The only permissions of the key; null: all of its user',
  ),
  organization: orNull(
    OrganizationRecord,
    'The only organization that the key is for; null: all of its user',
  ),
})

/** No bounds: a number that no publisher can have is a 404 like any other unknown one. */
export const PublisherParams = Type.Object({ pub_id: Type.Integer() })

/** A publisher as its owner sees it; fractions and dollars as the operator types them. */
export const PublisherRecord = Type.Object({
  pub_id: Type.Integer(),
  slug: Type.String(),
  name: Type.String(),
  uid: Type.Integer(),
  partner: Type.Boolean(),
  share: Type.Number(),
  domain: Type.Array(Type.String()),
  floor: Type.String({ description: 'US dollars a click' }),
  category_floor: Type.Array(Type.String(), { description: '`222:GB=0.10`: category, country' }),
  tolerance: Type.Number(),
  beta: Type.Number(),
  epsilon: Type.Number(),
  allow_merchant: Type.Array(Type.Integer()),
  block_merchant: Type.Array(Type.Integer()),
  linkmate_scope: Type.String(),
  consent_default: Type.String(),
  allow_host: Type.Array(Type.String()),
  require_price: Type.Boolean(),
  time_zone: Type.String({ description: 'IANA name' }),
  datetime_created: Timestamp,
  datetime_updated: Timestamp,
})

export function toApiKeyRecord(row: ApiKeyRow): Static<typeof ApiKeyRecord> {
  const { pub_id, merch_id, is_of_network, scopes, ...key } = row
  return {
    ...key,
    scopes: scopes === null ? null : [...scopes],
    organization: boundOrganization({ pub_id, merch_id, is_of_network }),
    datetime_created: formatTimestamp(row.datetime_created),
    datetime_updated: formatTimestamp(row.datetime_updated),
    datetime_active: formatTimestamp(row.datetime_active),
    datetime_expires: formatTimestampOrNull(row.datetime_expires),
    datetime_last_used: formatTimestampOrNull(row.datetime_last_used),
  }
}

/** Settings with the names and units of the command line's options. */
export function toPublisherRecord(row: Publisher): Static<typeof PublisherRecord> {
  return {
    pub_id: row.pub_id,
    slug: row.slug,
    name: row.name,
    uid: row.uid,
    partner: row.is_partner,
    share: row.share_ppm / PPM,
    domain: [...row.domains],
    floor: formatExact(row.floor_micros),
    category_floor: row.category_floors.map(formatCategoryFloor),
    tolerance: row.tolerance_ppm / PPM,
    beta: row.beta,
    epsilon: row.epsilon_ppm / PPM,
    allow_merchant: [...row.allow_merchants],
    block_merchant: [...row.block_merchants],
    linkmate_scope: row.linkmate_scope,
    consent_default: row.consent_default,
    allow_host: [...row.allow_hosts],
    require_price: row.is_price_required,
    time_zone: row.time_zone,
    datetime_created: formatTimestamp(row.datetime_created),
    datetime_updated: formatTimestamp(row.datetime_updated),
  }
}
