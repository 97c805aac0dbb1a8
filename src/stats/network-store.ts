/** What an import from another network must know: whose click, which publisher, what is there. */
import { clickIdBytes } from '../events/click-id.ts'
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'

export interface RowOwner {
  readonly pubId: number
  readonly articleId: number
}

/** The publisher and article of each click id (hex) that is ours. */
export async function findClickOwners(
  db: Db,
  clickIds: readonly string[],
): Promise<Map<string, RowOwner>> {
  const rows = await db.rows<{ click_id: Buffer; pub_id: number; article_id: number }>(sql`
    select click_id, pub_id, article_id from click
    where click_id = any(${clickIdBytes(clickIds)}::bytea[])`)
  return new Map(
    rows.map(({ click_id, pub_id: pubId, article_id: articleId }) => [
      click_id.toString('hex'),
      { pubId, articleId },
    ]),
  )
}

/** Publishers by slug, lower case. */
export async function findPublishersBySlugs(
  db: Db,
  slugs: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db.rows<{ slug: string; pub_id: number }>(sql`
    select lower(slug) as slug, pub_id from publisher where lower(slug) = any(${slugs}::text[])`)
  return new Map(rows.map(({ slug, pub_id }) => [slug, pub_id]))
}

export interface ArticleKey {
  readonly pubId: number
  readonly urlKey: Buffer
}

/** Articles by publisher and key of the address: `<pub_id> <hex>`. */
export async function findArticlesByKeys(
  db: Db,
  keys: readonly ArticleKey[],
): Promise<Map<string, number>> {
  const rows = await db.rows<{ pub_id: number; url_key: Buffer; article_id: number }>(sql`
    select pub_id, url_key, article_id from article
    where (pub_id, url_key) in (
      select * from unnest(
        ${keys.map(({ pubId }) => pubId)}::int[], ${keys.map(({ urlKey }) => urlKey)}::bytea[]))`)
  return new Map(
    rows.map(({ pub_id, url_key, article_id }) => [
      `${pub_id} ${url_key.toString('hex')}`,
      article_id,
    ]),
  )
}

/** The hash (hex) of the rows that are shown of each partition: `<account> <day>`. */
export async function findPartitions(
  db: Db,
  { network, days }: { readonly network: string; readonly days: readonly string[] },
): Promise<Map<string, string>> {
  const rows = await db.rows<{ account: string; report_date: string; rows_hash: Buffer }>(sql`
    select account, report_date, rows_hash from network_partition
    where network = ${network} and report_date = any(${days}::date[]) and until is null`)
  return new Map(
    rows.map((row) => [`${row.account} ${row.report_date}`, row.rows_hash.toString('hex')]),
  )
}
