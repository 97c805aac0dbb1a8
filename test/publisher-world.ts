/** A publisher with a key, articles and links, and a merchant: what reports are asked about. */
import { createHash } from 'node:crypto'
import { createApiKey, createUser } from '../src/accounts/create-account.ts'
import { PUBLISHER_DEFAULTS } from '../src/accounts/publisher.ts'
import { insertPublisher, type Publisher } from '../src/accounts/publisher-store.ts'
import { MERCHANT_DEFAULTS } from '../src/catalog/merchant.ts'
import { insertMerchant, type Merchant } from '../src/catalog/merchant-store.ts'
import type { Db } from '../src/platform/postgres.ts'
import { sql } from '../src/platform/sql.ts'
import { keyOfUrl } from '../src/platform/url.ts'

export interface PublisherWorld {
  readonly publisher: Publisher
  readonly merchant: Merchant
  readonly headers: { readonly authorization: string }
  /** Makes a campaign of the merchant that has no cap; its id. */
  addCampaign(): Promise<number>
  /** Makes an article with one link; the ids of both. */
  addArticle(name: string): Promise<{ articleId: number; auctionId: string; url: string }>
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
    addCampaign: () => addCampaign(db, merchant),
    addArticle: (name) => addArticle(db, publisher, name),
  }
}

/** Before anything that a test makes happen: impressions count from an article's first day on. */
const LONG_AGO = new Date('2020-01-01T00:00:00Z')

async function addCampaign(db: Db, { merch_id }: Merchant): Promise<number> {
  const row = await db.row<{ campaign_id: number }>(sql`
    insert into campaign (merch_id, model, rate_ppm) values (${merch_id}, 'cpa', 100000)
    returning campaign_id`)
  return row?.campaign_id ?? 0
}

async function addArticle(db: Db, { pub_id, uid }: Publisher, name: string) {
  const url = `https://gazette.example/${encodeURIComponent(name)}`
  const article = await db.row<{ article_id: number }>(sql`
    insert into article (pub_id, uid, url, url_key, name, datetime_created)
    values (${pub_id}, ${uid}, ${url}, ${keyOfUrl(new URL(url))}, ${name}, ${LONG_AGO})
    returning article_id`)
  const articleId = article?.article_id ?? 0
  const auctionId = String(9_100_000_000_000_000n + BigInt(articleId))
  const product = `https://gazette-shop.example/${articleId}`
  await db.run(sql`
    insert into smart_link (auction_id, pub_id, article_id, url, url_hash, source,
      is_article_given)
    values (${auctionId}, ${pub_id}, ${articleId}, ${product},
      ${createHash('sha256').update(product).digest()}, 'api', true)`)
  return { articleId, auctionId, url }
}
