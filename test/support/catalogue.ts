/** Merchants with offers, for tests: the real import of a feed in memory. */

import { CAMPAIGN_DEFAULTS, type CampaignSettings } from '../../src/campaigns/campaign.ts'
import { type Campaign, insertCampaign } from '../../src/campaigns/campaign-store.ts'
import type { FeedFile } from '../../src/catalog/feeds/feed-file.ts'
import { importFeed } from '../../src/catalog/feeds/import-feed.ts'
import type { ImportResult } from '../../src/catalog/feeds/import-result.ts'
import { MERCHANT_DEFAULTS } from '../../src/catalog/merchant.ts'
import { insertMerchant } from '../../src/catalog/merchant-store.ts'
import { micros } from '../../src/platform/money/money.ts'
import type { Database } from '../../src/platform/postgres/postgres.ts'

export interface OfferSpec {
  readonly id: string
  readonly link: string
  readonly title?: string
  readonly price?: string // Such as "49.99 USD".
  readonly salePrice?: string
  readonly gtin?: string
  readonly brand?: string
  readonly image?: string
  readonly availability?: string
  readonly category?: string // A number of Google's taxonomy.
  readonly description?: string
  readonly color?: string
  readonly size?: string
  readonly group?: string
}

/** Creates a merchant and imports its offers. */
export async function makeMerchant(
  db: Database,
  { name, domain, offers }: { name: string; domain: string; offers: readonly OfferSpec[] },
): Promise<{ merchId: number; imported: ImportResult }> {
  const settings = { ...MERCHANT_DEFAULTS, name, domains: [domain] }
  const { merch_id: merchId } = await insertMerchant(db, settings)
  return { merchId, imported: await importOffers(db, merchId, offers) }
}

export function importOffers(
  db: Database,
  merchId: number,
  offers: readonly OfferSpec[],
): Promise<ImportResult> {
  const lines = offers.map((offer) =>
    JSON.stringify({
      id: offer.id,
      title: offer.title ?? `Product ${offer.id}`,
      link: offer.link,
      price: offer.price ?? '49.99 USD',
      sale_price: offer.salePrice,
      availability: offer.availability ?? 'in stock',
      gtin: offer.gtin,
      brand: offer.brand,
      image_link: offer.image,
      google_product_category: offer.category,
      description: offer.description,
      color: offer.color,
      size: offer.size,
      item_group_id: offer.group,
    }),
  )
  const file = memoryFile(Buffer.from(lines.join('\n')))
  return importFeed(db, { merchId, file, format: 'jsonl', at: new Date(), seed: 1 })
}

/** A CPC campaign of $0.60, or with these settings. */
export function makeCampaign(
  db: Database,
  merchId: number,
  changes: Partial<CampaignSettings> = {},
): Promise<Campaign> {
  const cpc = { ...CAMPAIGN_DEFAULTS, model: 'cpc', bid_micros: micros(600_000) } as const
  const settings = { ...cpc, ...changes, merch_id: merchId }
  return insertCampaign(db, { settings, world: { now: new Date(), knowsCountries: true } })
}

function memoryFile(content: Buffer): FeedFile {
  return {
    totalBytes: content.length,
    readBytes: content.length,
    isCut: false,
    async *bytes() {
      yield content
    },
  }
}
