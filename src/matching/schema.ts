/** Wire shapes of product matching. */
import Type, { type Static } from 'typebox'
import type { Publisher } from '../accounts/publisher-store.ts'
import { PublisherParams } from '../accounts/schema.ts'
import type { Merchant } from '../catalog/merchant-store.ts'
import { Time, webUrl } from '../platform/http/field-types.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'

/**
 * The widest bounds of both variants. match-query.ts decides which variant a request is, so that
 * the fault can say so.
 */
export const MatchQuery = Type.Object({
  publisher_slug: Type.String({ maxLength: 64, description: 'Account identifier' }),
  gtin: Type.Optional(
    Type.String({
      maxLength: 50,
      description: 'One of gtin, sku and product_url must be sent. Variant B: at most 14',
      examples: ['9521000000018'],
    }),
  ),
  sku: Type.Optional(Type.String({ maxLength: 255, description: 'Variant A: at most 50' })),
  product_url: Type.Optional(webUrl('Variant A only')),
  article_url: Type.Optional(webUrl('Variant B: required')),
  article_name: Type.Optional(Type.String({ maxLength: 100, description: 'Variant B: required' })),
})
export type MatchQuery = Static<typeof MatchQuery>

export const MatchedProduct = Type.Object({
  best_effort_cpc: Type.Number({ description: 'Predicted cost per click, US dollars' }),
  clickmate_link: Type.String(),
  product_information: Type.Object({
    brand: Type.String(),
    gtin: Type.String(),
    image_url: Type.String(),
    in_stock: Type.Boolean(),
    price: Type.String({ description: 'US dollars' }),
    product_name: Type.String(),
    merchant_name: Type.String(),
  }),
})
export type MatchedProduct = Static<typeof MatchedProduct>

/** No `info` on success, as documented. */
export const MatchResponse = Type.Object({ data: Type.Array(MatchedProduct) })

export const FeedParams = Type.Object({
  ...PublisherParams.properties,
  merch_id: Type.Integer(),
})

export const ProductFeed = Type.Object({
  merch_id: Type.Integer(),
  merchant: Type.String(),
  feed_url: Type.String({ description: 'Of the CSV file; the API key opens it' }),
  datetime_updated: Time,
})

export interface FeedMerchant extends Merchant {
  readonly feed_imported_at: Date
}

export function toProductFeed(
  { merch_id, name, feed_imported_at }: FeedMerchant,
  { pub_id }: Pick<Publisher, 'pub_id'>,
  baseUrl: string,
): Static<typeof ProductFeed> {
  return {
    merch_id,
    merchant: name,
    feed_url: `${baseUrl}/api/v1/publishers/${pub_id}/product_feeds/${merch_id}/`,
    datetime_updated: formatTimestamp(feed_imported_at),
  }
}
