/** Product search: what the network's merchants sell, and what a link to each offer would earn. */
import Type from 'typebox'
import { list, type Operation } from '../accounts/operation.ts'
import { findPublisher } from '../accounts/publisher-store.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { badRequest, notFound } from '../platform/errors/api-errors.ts'
import { orNull } from '../platform/http/field-types.ts'
import { formatTimestampOrNull } from '../platform/time/timestamp.ts'
import { type MatchInput, matchProducts } from './match.ts'
import { type FoundOffer, findProducts, listOffers } from './product-search-store.ts'
import { type IsOwnPage, listPayingCampaigns } from './store.ts'

/** The longest that is searched for is a URL. */
const Q_LENGTH_MAX = 2048

export interface ProductDeps {
  readonly linkUrl: string
  readonly estimates: MatchInput['estimates']
  readonly book: MatchInput['book']
  readonly isOwnPage: IsOwnPage
}

const Offer = Type.Object({
  merch_id: Type.Integer(),
  merchant_name: Type.String(),
  title: Type.String({ description: "The merchant's name of the product" }),
  url: Type.String(),
  price: Type.String({ description: 'US dollars' }),
  in_stock: Type.Boolean(),
  best_effort_cpc: Type.Number({
    description: 'Predicted earnings of a click, US dollars; 0: the network cannot earn on it',
  }),
  clickmate_link: Type.String({ description: 'Leads readers to this offer, and earns' }),
})

export const Product = Type.Object({
  product_id: Type.String(),
  name: Type.String(),
  brand: Type.String({ description: 'Empty when the feeds have none' }),
  gtin: Type.String({ description: 'Empty when the feeds have none' }),
  image_url: orNull(Type.String()),
  offers: Type.Array(Offer, { description: 'One per merchant, the best for the publisher first' }),
  datetime_created: orNull(Type.String({ format: 'date-time' }), "Its oldest offer's import"),
  datetime_updated: orNull(Type.String({ format: 'date-time' }), "Its newest offer's import"),
})

export const productOperations = (deps: ProductDeps): readonly Operation[] => [
  list({
    id: 'searchProducts',
    tag: 'publishers',
    path: '/api/v1/publishers/:pub_id/products/',
    summary: 'Search products of all merchants',
    description:
      'By words of name and brand, by GTIN, by SKU, or by the URL of an offer. All words must ' +
      'occur, the last one as a beginning; a misspelt word finds similar ones if PostgreSQL has ' +
      '`pg_trgm`. Products in stock at most merchants come first. For a very common word, 2,000 ' +
      'offers are searched. New imports are found within two minutes.',
    permission: 'figures.read',
    params: PublisherParams,
    query: Type.Object({
      q: Type.String({ minLength: 1, maxLength: Q_LENGTH_MAX, description: 'What to search for' }),
    }),
    entry: Product,
    run: async ({ db, now, params: { pub_id: pubId }, query: { q, limit, cursor } }) => {
      const publisher = await findPublisher(db, pubId)
      if (publisher === null) throw notFound(`No publisher ${pubId}`)
      const skipRows = cursor === null ? 0 : /^\d{1,9}$/.test(cursor) ? Number(cursor) : null
      if (skipRows === null) {
        throw badRequest([{ field: 'cursor', rule: 'must be the next_cursor of a page' }])
      }
      const found = await findProducts(db, q, { limitRows: limit + 1, skipRows })
      const shown = found.slice(0, limit)
      const offers = await listOffers(db, shown, { now, isOwnPage: deps.isOwnPage })
      const merchIds = [...new Set(offers.map(({ merch_id }) => merch_id))]
      const campaigns = await listPayingCampaigns(db, { pubId, merchIds, now })
      const byProduct = Map.groupBy(offers, ({ product_id }) => product_id)
      const { isOwnPage: _, ...sources } = deps
      const query = { publisher_slug: publisher.slug }
      const records = shown.flatMap((productId) => {
        const listings = byProduct.get(productId) ?? []
        const input = { publisher, query, listings, campaigns, ...sources }
        const record = toProduct(productId, listings, input)
        return record === null ? [] : [record]
      })
      const nextCursor = found.length > limit ? String(skipRows + limit) : null
      return { rows: records, nextCursor }
    },
  }),
]

/** Null where the publisher accepts none of the merchants. */
function toProduct(productId: string, listings: readonly FoundOffer[], input: MatchInput) {
  const matches = matchProducts(input)
  const urlOf = new Map(listings.map((listing) => [listing.merch_id, listing.url]))
  const first = matches[0]?.entry.product_information
  if (first === undefined) return null
  const imports = listings
    .flatMap(({ feed_imported_at }) => feed_imported_at ?? [])
    .toSorted((one, other) => one.getTime() - other.getTime())
  return {
    product_id: productId,
    name: first.product_name,
    brand: first.brand,
    gtin: first.gtin,
    image_url: first.image_url === '' ? null : first.image_url,
    offers: matches.map(({ merchId, entry }) => ({
      merch_id: merchId,
      merchant_name: entry.product_information.merchant_name,
      title: entry.product_information.product_name,
      url: urlOf.get(merchId) ?? '',
      price: entry.product_information.price,
      in_stock: entry.product_information.in_stock,
      best_effort_cpc: entry.best_effort_cpc,
      clickmate_link: entry.clickmate_link,
    })),
    datetime_created: formatTimestampOrNull(imports.at(0) ?? null),
    datetime_updated: formatTimestampOrNull(imports.at(-1) ?? null),
  }
}
