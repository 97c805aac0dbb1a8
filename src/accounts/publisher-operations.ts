/** The settings that a publisher decides itself. Its share and partner status are the network's. */
import Type, { type Static } from 'typebox'
import { badRequest, type Fault, notFound } from '../platform/errors/api-errors.ts'
import { orNull, smallId } from '../platform/http/field-types.ts'
import { PPM, parseDollars } from '../platform/money/money.ts'
import { CATEGORY_FLOOR_RULE, parseCategoryFloor } from './category-floor.ts'
import { requireMatch } from './etag.ts'
import { action, type Call, type Operation } from './operation.ts'
import {
  CONSENT_DEFAULTS,
  LINKMATE_SCOPES,
  LIST_LENGTH_MAX,
  PUBLISHER_DEFAULTS,
  type PublisherSettings,
} from './publisher.ts'
import { findPublisher, lockPublisher, type Publisher, updatePublisher } from './publisher-store.ts'
import { PublisherParams, PublisherRecord, toPublisherRecord } from './schema.ts'

const PATH = '/api/v1/publishers/:pub_id/settings/'
const DOLLARS_RULE = 'must be dollars with at most six decimals, such as 0.10'
/** Nothing that a setting's rule would accept is longer. */
const TEXT_LENGTH_MAX = 1024

const Text = Type.String({ maxLength: TEXT_LENGTH_MAX })
const listOf = <T extends Type.TSchema>(entry: T, description: string) =>
  Type.Optional(orNull(Type.Array(entry, { maxItems: LIST_LENGTH_MAX }), description))
const fraction = (description: string) => Type.Optional(orNull(Type.Number(), description))

const ONLY_SAME = 'Set by the network: no other value than its own is accepted'

/** Any subset of the settings; null sets one to its default. */
export const SettingsBody = Type.Object({
  name: Type.Optional(Text),
  domain: listOf(Text, 'Domains of its pages, whose links are never turned into smart links'),
  floor: Type.Optional(orNull(Text, 'Lowest price of a click, US dollars')),
  category_floor: listOf(Text, 'Lowest price in a category: `222=0.10`, or `222:GB=0.10`'),
  tolerance: fraction('How much more expensive than the original an offer may be: 0 to 0.2'),
  beta: fraction('Reader benefit: how much a lower price for the reader weighs: 0 to 3'),
  epsilon: fraction('Share of auctions that explore: 0 to 0.1'),
  allow_merchant: listOf(smallId, 'Only these merchants; empty: all'),
  block_merchant: listOf(smallId, 'Never these merchants'),
  allow_host: listOf(Text, 'Other hosts that links may lead to'),
  linkmate_scope: Type.Optional(orNull(Type.Enum([...LINKMATE_SCOPES]))),
  consent_default: Type.Optional(
    orNull(Type.Enum([...CONSENT_DEFAULTS]), 'Consent of readers who were not asked'),
  ),
  require_price: Type.Optional(orNull(Type.Boolean(), 'Only offers whose price is known')),
  time_zone: Type.Optional(orNull(Text, 'IANA name; its midnight begins the days of figures')),
  // A record can be sent back as it was read.
  slug: Type.Optional(Type.String({ description: ONLY_SAME })),
  uid: Type.Optional(Type.Integer({ description: ONLY_SAME })),
  partner: Type.Optional(Type.Boolean({ description: ONLY_SAME })),
  share: Type.Optional(Type.Number({ description: ONLY_SAME })),
})
export type SettingsBody = Static<typeof SettingsBody>

/** Fields of the record that only the network changes. */
const OF_NETWORK = ['slug', 'uid', 'partner', 'share'] as const

const readSettings = action({
  id: 'readPublisherSettings',
  tag: 'publishers',
  method: 'GET',
  path: PATH,
  summary: "Read a publisher's settings",
  permission: 'figures.read',
  hasEtag: true,
  params: PublisherParams,
  entry: PublisherRecord,
  run: async ({ db, params: { pub_id: pubId } }) => {
    const publisher = await findPublisher(db, pubId)
    if (publisher === null) throw notFound(`No publisher ${pubId}`)
    return [toPublisherRecord(publisher)]
  },
})

const updateSettings = action({
  id: 'updatePublisherSettings',
  tag: 'publishers',
  method: 'PATCH',
  path: PATH,
  summary: "Change a publisher's settings",
  description:
    'Takes any subset of the fields; null sets a field to its default. The network sets `slug`, ' +
    '`share` and `partner`: other values of these fields are refused.',
  permission: 'settings.write',
  hasEtag: true,
  params: PublisherParams,
  body: SettingsBody,
  entry: PublisherRecord,
  run: async (call) => {
    const { pub_id: pubId } = call.params
    const publisher = await findPublisher(call.db, pubId)
    if (publisher === null) throw notFound(`No publisher ${pubId}`)
    const { changes, faults } = readChanges(call.body)
    const known = toPublisherRecord(publisher)
    for (const field of OF_NETWORK) {
      const value = call.body[field]
      if (value === undefined || value === known[field]) continue
      faults.push({ field, rule: 'only the network can change this' })
    }
    if (faults.length > 0) throw badRequest(faults)
    const { after } = await changePublisher(call, { pubId, changes })
    return [toPublisherRecord(after)]
  },
})

export const publisherOperations: readonly Operation[] = [readSettings, updateSettings]

/** The settings of a body, and its unreadable fields. Ranges are checked with the change. */
function readChanges(body: SettingsBody): {
  readonly changes: Partial<PublisherSettings>
  readonly faults: Fault[]
} {
  const faults: Fault[] = []
  const read = <T>(field: string, value: T | null, rule: string): T | undefined => {
    if (value === null) faults.push({ field, rule })
    return value ?? undefined
  }
  const toPpm = (value: number) => Math.round(value * PPM)
  const given: { [Name in keyof PublisherSettings]?: PublisherSettings[Name] | null | undefined } =
    {
      name: body.name,
      domains: body.domain,
      floor_micros: unlessEmpty(body.floor, (text) =>
        read('floor', parseDollars(text), DOLLARS_RULE),
      ),
      category_floors: unlessEmpty(body.category_floor, (list) =>
        list.flatMap((text) => {
          const rule = `${CATEGORY_FLOOR_RULE}: ${text}`
          return read('category_floor', parseCategoryFloor(text), rule) ?? []
        }),
      ),
      tolerance_ppm: unlessEmpty(body.tolerance, toPpm),
      beta: body.beta,
      epsilon_ppm: unlessEmpty(body.epsilon, toPpm),
      allow_merchants: body.allow_merchant,
      block_merchants: body.block_merchant,
      allow_hosts: body.allow_host,
      linkmate_scope: body.linkmate_scope,
      consent_default: body.consent_default,
      is_price_required: body.require_price,
      time_zone: body.time_zone,
    }
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  const defaults: Partial<PublisherSettings> = PUBLISHER_DEFAULTS
  const changes = Object.fromEntries(
    entries.map(([name, value]) => [name, value ?? defaults[name as keyof PublisherSettings]]),
  )
  return { changes, faults }
}

/** Null and absent values pass through: they mean the default, and no change. */
function unlessEmpty<In, Out>(
  value: In | null | undefined,
  read: (value: In) => Out,
): Out | null | undefined {
  return value === null || value === undefined ? (value as null | undefined) : read(value)
}

/** Throws a 404 for an unknown publisher, a 412 for an old etag, a 400 for refused settings. */
async function changePublisher(
  { db, ifMatch, audit }: Pick<Call<unknown, unknown, unknown>, 'db' | 'ifMatch' | 'audit'>,
  { pubId, changes }: { readonly pubId: number; readonly changes: Partial<PublisherSettings> },
): Promise<{ readonly before: Publisher; readonly after: Publisher }> {
  const before = await lockPublisher(db, pubId)
  requireMatch(ifMatch, toPublisherRecord(before))
  const after = await updatePublisher(db, { pubId, changes })
  await audit({
    action: 'publisher.update',
    target: `publisher:${pubId}`,
    before: toPublisherRecord(before),
    after: toPublisherRecord(after),
  })
  return { before, after }
}
