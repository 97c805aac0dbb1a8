/**
 * A merchant's products in the documented columns for publishers' programs (docs/spec/reports.md):
 * every text in quotes, unknown fields as "".
 *
 * Pure: listings in, lines out.
 */
import { googleCategory } from '../catalog/category.ts'
import { wrapperUrl } from '../links/link-url.ts'
import { formatCents } from '../platform/money/money.ts'
import { quotedCsvLine } from '../platform/text/csv.ts'
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

/** Fields that offers do not have (model, manufacturer) stay empty, which the format allows. */
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
    item_id: offer.sku, // The id in the merchant's own feed.
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
