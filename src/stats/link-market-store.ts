/** The market of links: the product of each, its sellers and its bidders. */
import type { Publisher } from '../accounts/publisher-store.ts'
import { parentDomains } from '../links/linkmate.ts'
import { unwrapUrl } from '../links/unwrap.ts'
import { acceptsMerchant } from '../matching/match.ts'
import { listPayingCampaigns } from '../matching/store.ts'
import { parseWebUrl, siteHost, trimUrl, urlKey } from '../platform/net/url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

export interface LinkOfMarket {
  readonly auction_id: string
  readonly url: string | null
  readonly unwraps: boolean
  readonly is_exclusive: boolean
}

export interface ListedProduct {
  readonly product_id: string
  readonly merch_id: number
  readonly merchant_name: string
  readonly title: string
  readonly price_micros: string
  readonly is_in_stock: boolean
  readonly image_url: string | null
}

export interface LinkMarket {
  /** The listing at the link's own URL. */
  readonly product: ListedProduct | null
  readonly sellers: readonly { readonly merchId: number; readonly isInStock: boolean }[]
  readonly bidders: ReadonlySet<number>
}

/** The page that a link leads to, without another network's wrapper. */
export function pageOfLink({ url, unwraps }: Pick<LinkOfMarket, 'url' | 'unwraps'>): string | null {
  if (url === null) return null
  const page = trimUrl(url)
  return unwraps ? (unwrapUrl(page) ?? page) : page
}

export async function readLinkMarket(
  db: Db,
  publisher: Publisher,
  { links, now }: { readonly links: readonly LinkOfMarket[]; readonly now: Date },
): Promise<(link: LinkOfMarket) => LinkMarket> {
  const pages = new Map(links.map((link) => [link.auction_id, placeOf(link)]))
  const listed = await findListed(
    db,
    [...pages.values()].flatMap(({ key }) => key ?? []),
  )
  const products = [...new Set([...listed.values()].map(({ product_id }) => product_id))]
  const sellersOf = await findSellers(db, products)
  const owners = await findOwners(db, [
    ...new Set([...pages.values()].flatMap((page) => page.domains)),
  ])
  const merchIds = [...sellersOf.values()].flat().map(({ merchId }) => merchId)
  const all = [...new Set([...merchIds, ...owners.values()])]
  const campaigns = await listPayingCampaigns(db, { pubId: publisher.pub_id, merchIds: all, now })
  const bidders = new Set(
    campaigns
      .filter((campaign) => campaign.has_budget_left)
      .filter(({ merch_id }) => acceptsMerchant(publisher, merch_id))
      .map(({ merch_id }) => merch_id),
  )
  return (link) => {
    const place = pages.get(link.auction_id)
    const product = listed.get(place?.key?.toString('hex') ?? '') ?? null
    const owner = place?.domains.flatMap((domain) => owners.get(domain) ?? []).at(0)
    const ofFeeds = product === null ? [] : (sellersOf.get(product.product_id) ?? [])
    // A page that no feed has can be sold by the merchant of its host.
    const ofHost =
      product === null && owner !== undefined ? [{ merchId: owner, isInStock: true }] : []
    const sellers = [...ofFeeds, ...ofHost].filter(
      ({ merchId }) => !link.is_exclusive || merchId === (product?.merch_id ?? owner),
    )
    return { product, sellers, bidders }
  }
}

function placeOf(link: LinkOfMarket): { readonly key: Buffer | null; readonly domains: string[] } {
  const page = pageOfLink(link)
  const parsed = page === null ? null : parseWebUrl(page)
  if (page === null || parsed === null) return { key: null, domains: [] }
  return { key: urlKey(page), domains: parentDomains(siteHost(parsed)) }
}

async function findListed(
  db: Db,
  keys: readonly Buffer[],
): Promise<ReadonlyMap<string, ListedProduct>> {
  if (keys.length === 0) return new Map()
  const rows = await db.rows<ListedProduct & { readonly key: string }>(sql`
    select distinct on (url_key) encode(url_key, 'hex') as key, product_id, merch_id,
      merchant.name as merchant_name, title, price_micros, is_in_stock, image_url
    from current_offer join merchant using (merch_id)
    where url_key = any(${keys}::bytea[])
    order by url_key, is_in_stock desc, price_micros, offer_id`)
  return new Map(rows.map(({ key, ...product }) => [key, product]))
}

async function findSellers(db: Db, productIds: readonly string[]) {
  if (productIds.length === 0) return new Map<string, LinkMarket['sellers']>()
  const rows = await db.rows<{ product_id: string; merch_id: number; is_in_stock: boolean }>(sql`
    select product_id, merch_id, bool_or(is_in_stock) as is_in_stock
    from current_offer where product_id = any(${productIds}::bigint[]) group by 1, 2`)
  const byProduct = Map.groupBy(rows, ({ product_id }) => product_id)
  return new Map(
    [...byProduct].map(([id, sellers]) => [
      id,
      sellers.map(({ merch_id: merchId, is_in_stock: isInStock }) => ({ merchId, isInStock })),
    ]),
  )
}

async function findOwners(db: Db, domains: readonly string[]): Promise<Map<string, number>> {
  const rows = await db.rows<{ domain: string; merch_id: number }>(sql`
    select domain, merch_id from merchant_domain where domain = any(${domains}::text[])`)
  return new Map(rows.map(({ domain, merch_id }) => [domain, merch_id]))
}
