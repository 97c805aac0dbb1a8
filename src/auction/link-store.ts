/** What an edge needs of a link: the link itself, its article, and the offers of its product. */
import { unwrapUrl } from '../links/unwrap.ts'
import { trimUrl, urlKey } from '../platform/net/url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { prepared, sql } from '../platform/postgres/sql.ts'

interface LinkRow {
  readonly auction_id: string
  readonly pub_id: number
  readonly url: string | null
  readonly article_url: string
  readonly is_exclusive: boolean
  readonly is_keyless: boolean
  readonly unwraps: boolean // Whether click wrappers in its URL are unwrapped.
}

export interface OfferRow {
  readonly offer_id: string
  readonly merch_id: number
  readonly product_id: string
  readonly title: string
  readonly url: string
  readonly image_url: string | null
  readonly price_micros: string
  readonly is_in_stock: boolean
  readonly category_id: number | null
}

export interface LinkData {
  readonly link: LinkRow
  /** The shop's page behind the link's URL, without another network's wrapper. */
  readonly page: string | null
  /** The listing at the link's own URL; null if no feed has it. */
  readonly original: OfferRow | null
  /** All offers of the same product, one per merchant, including the original's. */
  readonly offers: readonly OfferRow[]
}

/** A product that more merchants sell is cut to the cheapest in stock; the auction keeps 64. */
const OFFERS_PER_PRODUCT_MAX = 256

/**
 * Loads links by auction id in three round trips. Leaves out listings whose page no longer belongs
 * to their merchant, which would otherwise pay for another shop's readers.
 */
export async function loadLinks(
  db: Db,
  auctionIds: readonly string[],
  isOwnPage: (offer: OfferRow) => boolean,
): Promise<Map<string, LinkData>> {
  const rows = await db.rows<LinkRow>(
    prepared(
      'load_links',
      sql`
    select l.auction_id, l.pub_id, l.url, a.url as article_url, l.is_exclusive,
      l.is_keyless, l.unwraps
    from smart_link l join article a using (article_id)
    where l.auction_id = any(${auctionIds}::bigint[])`,
    ),
  )
  const links = rows.map(withUsableUrls)
  const pages = new Map(links.map((link) => [link.auction_id, pageOf(link)]))
  const keys = new Map<string, Buffer>()
  for (const [auctionId, page] of pages) {
    const key = page === null ? null : urlKey(page)
    if (key !== null) keys.set(auctionId, key)
  }
  const originals = await findListings(db, [...keys.values()], isOwnPage)
  const products = [...new Set([...originals.values()].map((offer) => offer.product_id))]
  const found = (await findOffers(db, products)).filter(isOwnPage)
  const offers = Map.groupBy(found, (offer) => offer.product_id)
  return new Map(
    links.map((link) => {
      const key = keys.get(link.auction_id)
      const original = (key && originals.get(key.toString('hex'))) ?? null
      const ofProduct = original === null ? [] : (offers.get(original.product_id) ?? [])
      const page = pages.get(link.auction_id) ?? null
      const listed = onePerMerchant(ofProduct, original)
      return [link.auction_id, { link, page, original, offers: listed }]
    }),
  )
}

/** Stored as the publisher wrote them; readers are redirected to the form a browser makes. */
function withUsableUrls(link: LinkRow): LinkRow {
  const url = link.url === null ? null : trimUrl(link.url)
  return { ...link, url, article_url: trimUrl(link.article_url) }
}

function pageOf({ url, unwraps }: LinkRow): string | null {
  return url !== null && unwraps ? (unwrapUrl(url) ?? url) : url
}

/** Current listings by the hex key of their URL. */
async function findListings(
  db: Db,
  keys: readonly Buffer[],
  isOwnPage: (offer: OfferRow) => boolean,
): Promise<Map<string, OfferRow>> {
  if (keys.length === 0) return new Map()
  // As text, because a binary key of a long-cached row would keep an 8 kB buffer alive.
  const rows = await db.rows<OfferRow & { readonly key: string }>(
    prepared(
      'find_listings',
      sql`
    select * from (
      select distinct on (url_key, merch_id) offer_id, merch_id, product_id, title, url, image_url,
        price_micros, is_in_stock, category_id, encode(url_key, 'hex') as key
      from current_offer where url_key = any(${keys}::bytea[])
      order by url_key, merch_id, is_in_stock desc, price_micros, offer_id
    ) as of_merchant
    order by is_in_stock, price_micros desc, offer_id desc`,
    ),
  )
  // The best listing of a URL comes last and stays.
  return new Map(rows.filter(isOwnPage).map((row) => [row.key, row]))
}

/** Current offers of products, cheapest in stock first. */
async function findOffers(db: Db, productIds: readonly string[]): Promise<OfferRow[]> {
  if (productIds.length === 0) return []
  return db.rows<OfferRow>(
    prepared(
      'find_offers',
      sql`
    select offer_id, merch_id, product_id, title, url, image_url, price_micros, is_in_stock,
      category_id
    from unnest(${productIds}::bigint[]) as wanted
    cross join lateral (
      select * from current_offer where product_id = wanted
      order by is_in_stock desc, price_micros, offer_id limit ${OFFERS_PER_PRODUCT_MAX}
    ) offer`,
    ),
  )
}

/** A merchant competes with its best listing; the original merchant with the linked one. */
function onePerMerchant(offers: readonly OfferRow[], original: OfferRow | null): OfferRow[] {
  const best = new Map<number, OfferRow>()
  if (original !== null) best.set(original.merch_id, original)
  for (const offer of offers) if (!best.has(offer.merch_id)) best.set(offer.merch_id, offer)
  return [...best.values()]
}
