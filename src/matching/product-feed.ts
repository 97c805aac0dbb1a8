/**
 * A merchant's products as a publisher's own programs read them (report columns document, Product
 * feeds for publishers): documented columns, every text in quotes, an unknown one as "".
 *
 * Pure: listings come in, lines go out.
 */
import { googleCategory } from '../catalog/category.ts'
import { wrapperUrl } from '../links/link-url.ts'
import { quotedCsvLine } from '../platform/csv.ts'
import { formatCents } from '../platform/money.ts'
import type { FeedOfferRow } from './store.ts'

const FEED_COLUMNS = [
  'brand',
  'colors',
  'currency',
  'description',
  'google_product_category',
  'gtin',
  'image_url',
  'item_group_id',
  'item_id',
  'manufacturer',
  'model',
  'mpn',
  'name',
  'price',
  'sale_price',
  'sizes',
  'sku',
  'store_page_url',
] as const
type FeedRow = Partial<Record<(typeof FEED_COLUMNS)[number], string | null>>

export const FEED_HEADER = quotedCsvLine(FEED_COLUMNS)

export interface FeedReader {
  readonly linkUrl: string
  readonly publisherSlug: string
}

export function feedLine(offer: FeedOfferRow, reader: FeedReader): string {
  const row = toFeedRow(offer, reader)
  return quotedCsvLine(FEED_COLUMNS.map((column) => row[column] ?? ''))
}

/** What offers do not hold (a model, a manufacturer) stays empty: every field may be. */
function toFeedRow(offer: FeedOfferRow, { linkUrl, publisherSlug }: FeedReader): FeedRow {
  return {
    brand: offer.brand,
    colors: offer.color,
    currency: 'USD',
    description: offer.description,
    google_product_category: googleCategory(offer.category_id)?.toString() ?? null,
    gtin: offer.gtin_text,
    image_url: offer.image_url,
    item_group_id: offer.item_group_id,
    item_id: offer.sku, // The id of the merchant's own feed.
    mpn: offer.mpn,
    name: offer.title,
    price: formatCents(offer.regular_price_micros ?? offer.price_micros),
    sale_price: offer.regular_price_micros === null ? null : formatCents(offer.price_micros),
    sizes: offer.size,
    sku: offer.sku,
    // Our choice: exclusive, because the row shows this merchant's product at its price.
    store_page_url: wrapperUrl(linkUrl, { url: offer.url, publisherSlug, isExclusive: true }),
  }
}
