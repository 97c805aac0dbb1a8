/** A publisher with a key, articles and links, and a merchant: the subjects of reports. */
import { createApiKey, createUser } from '../../src/accounts/create-account.ts'
import { PUBLISHER_DEFAULTS } from '../../src/accounts/publisher.ts'
import { insertPublisher, type Publisher } from '../../src/accounts/publisher-store.ts'
import { CAMPAIGN_DEFAULTS, type CampaignSettings } from '../../src/campaigns/campaign.ts'
import { insertCampaign } from '../../src/campaigns/campaign-store.ts'
import { MERCHANT_DEFAULTS } from '../../src/catalog/merchant.ts'
import { insertMerchant, type Merchant } from '../../src/catalog/merchant-store.ts'
import { insertSmartLink } from '../../src/links/store.ts'
import { keyOfUrl } from '../../src/platform/net/url.ts'
import type { Db } from '../../src/platform/postgres/postgres.ts'

export interface PublisherWorld {
  readonly publisher: Publisher
  readonly merchant: Merchant
  readonly headers: { readonly authorization: string }
  /** Creates a campaign of the merchant, by default with a commission and without a cap. */
  addCampaign(settings?: Partial<CampaignSettings>): Promise<number>
  /** Creates an article with one link to a shop; returns the ids and URLs of both. */
  addArticle(
    name: string,
    link?: string,
  ): Promise<{ articleId: number; auctionId: string; url: string; link: string }>
}

export async function makePublisherWorld(db: Db, slug = 'gazette'): Promise<PublisherWorld> {
  const email = `${slug}@example.com`
  const { uid } = await createUser(db, { email, password: 'long enough', isAdmin: false })
  const publisher = await insertPublisher(db, { ...PUBLISHER_DEFAULTS, uid, name: slug, slug })
  const { key } = await createApiKey(db, {
    uid,
    description: 'test',
    expiresAt: null,
    now: new Date(),
  })
  const merchant = await insertMerchant(db, {
    ...MERCHANT_DEFAULTS,
    name: `${slug}'s shop`,
    domains: [`${slug}-shop.example`],
  })
  return {
    publisher,
    merchant,
    headers: { authorization: `SERVICE-API-KEY ${key}` },
    addCampaign: (settings = {}) => addCampaign(db, merchant, settings),
    addArticle: (name, link) => addArticle(db, publisher, { name, link }),
  }
}

/** Before every event of a test, because impressions count from an article's first day. */
const LONG_AGO = new Date('2020-01-01T00:00:00Z')
let linksMade = 0 // Shared by all publishers, so that each link has its own auction id.

async function addCampaign(db: Db, { merch_id }: Merchant, more: Partial<CampaignSettings>) {
  const commission = { model: 'cpa', rate_ppm: 100_000 } as const
  const settings = { ...CAMPAIGN_DEFAULTS, ...commission, ...more, merch_id }
  const world = { now: LONG_AGO, knowsCountries: false }
  return (await insertCampaign(db, { settings, world })).campaign_id
}

async function addArticle(
  db: Db,
  { pub_id: pubId, uid }: Publisher,
  { name, link: wantedLink }: { name: string; link: string | undefined },
) {
  linksMade += 1
  const auctionId = String(9_100_000_000_000_000n + BigInt(linksMade))
  const link = wantedLink ?? `https://gazette-shop.example/${linksMade}`
  const url = `https://gazette.example/${encodeURIComponent(name)}`
  const urlKey = keyOfUrl(new URL(url))
  const wanted = { pubId, uid, url, urlKey, name, publicationDate: null, at: LONG_AGO }
  const article = { ...wanted, isTrusted: true }
  const made = await insertSmartLink(db, { article, url: link, isExclusive: false, auctionId })
  return { articleId: made.article.article_id, auctionId, url, link }
}
