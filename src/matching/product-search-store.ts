/** Products of the network's merchants by words, GTIN, SKU or URL, with every merchant's offer. */
import { joinableGtin14, readGtin } from '../catalog/gtin.ts'
import { FEED_AGE_MAX_MS } from '../catalog/merchant.ts'
import { unwrapUrl } from '../links/unwrap.ts'
import { parseWebUrl, urlKey } from '../platform/net/url.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { hasTrigrams } from './product-words-store.ts'
import type { IsOwnPage, ListingRow } from './store.ts'

/** More products than anybody pages through; a common word has hundreds of thousands. */
const FOUND_MAX = 2_000
const MERCHANTS_EACH = 50
const WORDS_MAX = 10
/** Half of the parts of a word: finds `kettel`, but no other word of the same length. */
const SIMILARITY_MIN = 0.4
const NEAREST_MAX = 5

export interface FoundOffer extends ListingRow {
  readonly product_id: string
  readonly feed_imported_at: Date | null
}

/** The ids of products, the best first: in stock at most merchants. */
export async function findProducts(
  db: Db,
  q: string,
  { limitRows, skipRows }: { readonly limitRows: number; readonly skipRows: number },
): Promise<string[]> {
  const page = sql`
    group by product_id
    order by count(distinct merch_id) filter (where is_in_stock) desc, min(price_micros), product_id
    limit ${limitRows} offset ${skipRows}`
  for (const condition of identifiersOf(q)) {
    const rows = await db.rows<{ product_id: string }>(sql`
      select product_id from current_offer where ${condition} ${page}`)
    if (rows.length > 0) return rows.map(({ product_id }) => product_id)
  }
  const query = await wordQuery(db, q)
  if (query === null) return []
  const rows = await db.rows<{ product_id: string }>(sql`
    with found as materialized (
      select offer_id from offer_words where words @@ ${query}::tsquery limit ${FOUND_MAX}
    ), offers as (
      select offer.* from found cross join lateral (
        select product_id, merch_id, is_in_stock, price_micros from current_offer
        where current_offer.offer_id = found.offer_id limit 1
      ) as offer
    )
    select product_id from offers ${page}`)
  return rows.map(({ product_id }) => product_id)
}

function identifiersOf(q: string): Sql[] {
  const text = q.trim()
  if (parseWebUrl(text) !== null) {
    const key = urlKey(unwrapUrl(text) ?? text)
    return key === null ? [] : [sql`url_key = ${key}`]
  }
  if (/\s/.test(text) && !/^[\d\s-]+$/.test(text)) return []
  const gtin14 = joinableGtin14(readGtin(text))
  const byGtin = gtin14 === null ? [] : [sql`product_id = ${gtin14}::bigint`]
  return [...byGtin, sql`gtin14 is null and gtin_text = ${text}`, sql`sku = ${text}`]
}

/** All words must occur, the last one as a beginning. Null: nothing to search for. */
async function wordQuery(db: Db, q: string): Promise<string | null> {
  const words = q.split(/\s+/u).filter((word) => word !== '')
  const known = await db.rows<{ word: string; term: string }>(sql`
    select lower(word) as word, plainto_tsquery('simple', word)::text as term
    from unnest(${words.slice(0, WORDS_MAX)}::text[]) with ordinality as given (word, place)
    where plainto_tsquery('simple', word)::text <> '' order by place`)
  const canGuess = known.length > 0 && (await hasTrigrams(db))
  const terms: string[] = []
  for (const [at, { word, term: exact }] of known.entries()) {
    const term = at === known.length - 1 ? `${exact}:*` : exact
    const nearest = canGuess && !(await occurs(db, term)) ? await nearestWords(db, word) : []
    terms.push(`(${[term, ...nearest.map((near) => `'${near}'`)].join(' | ')})`)
  }
  return terms.length === 0 ? null : terms.join(' & ')
}

async function occurs(db: Db, term: string): Promise<boolean> {
  const row = await db.row(sql`
    select from offer_words where words @@ ${term}::tsquery limit 1`)
  return row !== null
}

async function nearestWords(db: Db, word: string): Promise<string[]> {
  const rows = await db.rows<{ word: string }>(sql`
    select word from product_word
    where word % ${word} and similarity(word, ${word}) >= ${SIMILARITY_MIN}
    order by similarity(word, ${word}) desc, word limit ${NEAREST_MAX}`)
  return rows.map((row) => row.word.replaceAll(/[^\p{L}\p{N}]/gu, '')).filter((text) => text !== '')
}

/** The best offer of each merchant of these products: in stock first, then the cheapest. */
export async function listOffers(
  db: Db,
  productIds: readonly string[],
  { now, isOwnPage }: { readonly now: Date; readonly isOwnPage: IsOwnPage },
): Promise<FoundOffer[]> {
  if (productIds.length === 0) return []
  const freshFrom = new Date(now.getTime() - FEED_AGE_MAX_MS)
  const rows = await db.rows<FoundOffer>(sql`
    select best.*, name as merchant_name, false as is_exact, feed_imported_at,
      coalesce(feed_imported_at >= ${freshFrom}, false) as is_fresh
    from unnest(${productIds}::bigint[]) as wanted (product_id)
    cross join lateral (
      select distinct on (merch_id) product_id, merch_id, title, brand, gtin_text, url, image_url,
        price_micros, category_id, is_in_stock
      from current_offer where current_offer.product_id = wanted.product_id
      order by merch_id, is_in_stock desc, price_micros, offer_id
      limit ${MERCHANTS_EACH}
    ) as best
    join merchant using (merch_id)`)
  return rows.filter(isOwnPage)
}
