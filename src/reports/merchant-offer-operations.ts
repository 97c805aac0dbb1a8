/** A merchant's offers, as an operation of the management API. */
import Type, { type Static } from 'typebox'
import { list, type Operation } from '../accounts/operation.ts'
import { MerchantParams } from '../catalog/own-merchant.ts'
import { orNull, TextOrNull, Time } from '../platform/http/field-types.ts'
import { pageOf, readCursor } from '../platform/http/list-cursor.ts'
import { formatExact } from '../platform/money/money.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import {
  listMerchantOffers,
  listRejectedOffers,
  OFFER_DAYS,
  OFFER_STATES,
  type OfferRow,
  type RejectedOffer,
} from './merchant-offer-store.ts'

const QUERY_CHARACTERS_MAX = 200

export const OfferRecord = Type.Object({
  offer_id: orNull(Type.String(), 'Null for a rejected row, which is no offer'),
  merch_id: Type.Integer(),
  state: Type.Enum(['in_stock', 'out_of_stock', 'rejected']),
  sku: TextOrNull,
  gtin: TextOrNull,
  title: TextOrNull,
  brand: TextOrNull,
  url: TextOrNull,
  image_url: TextOrNull,
  price: orNull(Type.String(), 'US dollars, today'),
  matches: Type.Integer({ description: 'Other merchants that sell the same product now' }),
  clicks: Type.Integer({ description: `Valid clicks of the last ${OFFER_DAYS} days` }),
  cost: Type.String({
    description: `Clicks and commissions of the last ${OFFER_DAYS} days, US dollars`,
  }),
  line: orNull(Type.Integer(), 'Of a rejected row: its line in the feed'),
  reject_reason: TextOrNull,
  reject_detail: TextOrNull,
  datetime_created: Time,
  datetime_updated: Time,
})

const listOffers = list({
  id: 'listMerchantOffers',
  tag: 'merchants',
  path: '/api/v1/merchants/:merch_id/offers/',
  summary: 'The offers of a merchant, with matches, clicks and cost',
  description:
    'With `state=rejected`, the rows that the last import left out; ' +
    '`feed/imports/<import_id>/rejects/` says how to fix them.',
  permission: 'figures.read',
  params: MerchantParams,
  query: Type.Object({
    q: Type.Optional(
      Type.String({
        maxLength: QUERY_CHARACTERS_MAX,
        description: 'Words of the title or brand, or a whole SKU or GTIN',
      }),
    ),
    state: Type.Optional(
      Type.Enum([...OFFER_STATES], {
        description: '`unmatched`: no other merchant sells the product',
      }),
    ),
  }),
  entry: OfferRecord,
  run: async ({ db, params, query, now }) => {
    const { limit, cursor, q = null, state = null } = query
    const { merch_id: merchId } = params
    const [after = '0'] = readCursor(cursor, ['id']) ?? []
    const wanted = { merchId, q, state, afterId: String(after), limit: limit + 1, now }
    if (state === 'rejected') {
      return pageOf(await listRejectedOffers(db, wanted), limit, {
        cursorOf: ({ reject_id }) => [String(reject_id)],
        entryOf: (row) => toRejected(merchId, row),
      })
    }
    return pageOf(await listMerchantOffers(db, wanted), limit, {
      cursorOf: ({ offer_id }) => [offer_id],
      entryOf: (row) => toOffer(merchId, row),
    })
  },
})

export const merchantOfferOperations: readonly Operation[] = [listOffers]

const NOT_REJECTED = { line: null, reject_reason: null, reject_detail: null }

function toOffer(merchId: number, row: OfferRow): Static<typeof OfferRecord> {
  const { offer_id, sku, gtin, title, brand, url, image_url, matches } = row
  const at = formatTimestamp(row.feed_imported_at ?? new Date(0))
  return {
    offer_id,
    merch_id: merchId,
    state: row.is_in_stock ? 'in_stock' : 'out_of_stock',
    ...{ sku, gtin, title, brand, url, image_url },
    price: formatExact(row.price_micros),
    matches,
    clicks: Number(row.clicks),
    cost: formatExact(row.cost_micros),
    ...NOT_REJECTED,
    datetime_created: at,
    datetime_updated: at,
  }
}

function toRejected(merchId: number, row: RejectedOffer): Static<typeof OfferRecord> {
  const at = formatTimestamp(row.started_at)
  return {
    offer_id: null,
    merch_id: merchId,
    state: 'rejected',
    sku: row.sku,
    ...{ gtin: null, title: null, brand: null, url: null, image_url: null, price: null },
    ...{ matches: 0, clicks: 0, cost: '0.00' },
    line: row.line,
    reject_reason: row.reason,
    reject_detail: row.detail,
    datetime_created: at,
    datetime_updated: at,
  }
}
