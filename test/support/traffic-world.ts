/**
 * The recorded world, created in the service: publishers, bidding merchants, articles and links.
 */
import { createUser } from '../../src/accounts/create-account.ts'
import { PUBLISHER_DEFAULTS } from '../../src/accounts/publisher.ts'
import { insertPublisher, type Publisher } from '../../src/accounts/publisher-store.ts'
import { MERCHANT_DEFAULTS } from '../../src/catalog/merchant.ts'
import { insertMerchant, type Merchant } from '../../src/catalog/merchant-store.ts'
import { insertSmartLink } from '../../src/links/store.ts'
import { urlKey } from '../../src/platform/net/url.ts'
import type { Db } from '../../src/platform/postgres/postgres.ts'
import { sql } from '../../src/platform/postgres/sql.ts'

export interface WorldFile {
  readonly publishers: readonly { id: string; name: string; slug: string; domain: string }[]
  readonly merchants: readonly { id: string; name: string; domains: string[] }[]
  readonly articles: readonly { id: string; publisher: string; name: string; url: string }[]
  readonly links: readonly { id: string; article: string; raw_url: string }[]
}

export interface TrafficWorld {
  publisher(id: string | undefined): Publisher
  merchant(id: string | undefined): Merchant
  link(id: string | undefined): { readonly auctionId: string; readonly articleId: number }
  readonly links: ReadonlyMap<string, { readonly auctionId: string; readonly articleId: number }>
}

/**
 * Two of three merchants pay per click, the third a commission. All links are exclusive, so that
 * the seller wins, as the recording's truth assumes.
 */
export async function makeTrafficWorld(db: Db, file: WorldFile, at: Date): Promise<TrafficWorld> {
  const { uid } = await createUser(db, {
    email: 'replay@example.com',
    password: 'long enough',
    isAdmin: false,
  })
  const publishers = new Map<string, Publisher>()
  for (const { id, name, slug, domain } of file.publishers) {
    const settings = { ...PUBLISHER_DEFAULTS, uid, name, slug, domains: [domain] }
    publishers.set(id, await insertPublisher(db, { ...settings, is_partner: true }))
  }
  const merchants = new Map<string, Merchant>()
  for (const [index, { id, name, domains }] of file.merchants.entries()) {
    const merchant = await insertMerchant(db, { ...MERCHANT_DEFAULTS, name, domains })
    merchants.set(id, merchant)
    await insertCampaign(db, merchant.merch_id, index)
  }
  const articles = new Map(file.articles.map((article) => [article.id, article]))
  const links = new Map<string, { auctionId: string; articleId: number }>()
  for (const [index, { id, article: articleId, raw_url: url }] of file.links.entries()) {
    const article = must(articles.get(articleId), articleId)
    const key = must(urlKey(article.url), article.url)
    const auctionId = String(9_100_000_000_000_000n + BigInt(index))
    const made = await insertSmartLink(db, {
      article: {
        pubId: must(publishers.get(article.publisher), article.publisher).pub_id,
        uid,
        url: article.url,
        urlKey: key,
        name: article.name,
        publicationDate: null,
        at,
        isTrusted: true,
      },
      ...{ auctionId, url, isExclusive: true },
    })
    links.set(id, { auctionId, articleId: made.article.article_id })
  }
  return {
    links,
    publisher: (id) => must(publishers.get(id ?? ''), id),
    merchant: (id) => must(merchants.get(id ?? ''), id),
    link: (id) => must(links.get(id ?? ''), id),
  }
}

/** Odd bids and rates, so that shares leave fractions. */
async function insertCampaign(db: Db, merchId: number, index: number): Promise<void> {
  const isCpa = index % 3 === 2
  await db.run(sql`
    insert into campaign (merch_id, model, bid_micros, rate_ppm)
    values (${merchId}, ${isCpa ? 'cpa' : 'cpc'}, ${isCpa ? null : 300_001 + index * 10_007},
      ${isCpa ? 70_001 + index : null})`)
}

function must<T>(value: T | null | undefined, what: string | undefined): T {
  if (value === null || value === undefined) throw new Error(`the world has no ${what}`)
  return value
}
