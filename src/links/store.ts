/** Articles and smart links in SQL: create, find or create, disable. */
import { hash } from 'node:crypto'
import { notFound } from '../platform/errors/api-errors.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { LIST_ROWS_MAX, type Sql, sql } from '../platform/postgres/sql.ts'
import { HOUR_MS } from '../platform/time/timestamp.ts'

export interface ArticleRow {
  readonly article_id: number
  readonly uid: number
  readonly pub_id: number
  readonly url: string
  readonly name: string
  readonly publication_date: Date | null
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

/** An article as a caller names it. Found by publisher and the key of its URL. */
export interface WantedArticle {
  readonly pubId: number
  readonly uid: number // the user that creates it, if it does not exist yet
  readonly url: string
  readonly urlKey: Buffer
  readonly name: string
  readonly publicationDate: Date | null
  readonly at: Date // by the clock that dates its events
  /** Whether an existing article takes the new name: only from an authenticated publisher. */
  readonly isTrusted: boolean
}

export interface CreatedLinkRow {
  readonly link: {
    readonly smart_link_id: number
    readonly auction_id: string
    readonly uid_created: number
    readonly pub_id: number
    readonly url: string | null
    readonly is_exclusive: boolean
    readonly datetime_created: Date
  }
  readonly article: ArticleRow
}

/**
 * A link that was found or created. Each (article, URL, lock) has one, besides those created by
 * API.
 */
export interface FoundLinkRow {
  readonly smart_link_id: number
  readonly auction_id: string
  readonly pub_id: number
  readonly url: string
  readonly is_exclusive: boolean
  readonly is_keyless: boolean
  readonly state: 'active' | 'disabled'
  readonly source: 'api' | 'linkmate' | 'wrapper'
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

/** A link as LinkMate answers it. */
export interface RetrievedLinkRow extends FoundLinkRow {
  /** A merchant of the network owns the link's host, or the host that the link unwraps to. */
  readonly is_monetizable: boolean
}

/**
 * The properties that distinguish the links of an article. Whether to unwrap is one of them,
 * because it changes the destination, as the lock does.
 */
export interface LinkToFind {
  readonly url: string
  readonly isExclusive: boolean
  readonly unwraps: boolean
}

/** The row of a link and its article with indexes, without their URLs. */
const LINK_ROW_BYTES = 600

/** The storage size of a new link, including its article as if that were new. */
export function storedLinkSize(article: WantedArticle, url: string): number {
  return LINK_ROW_BYTES + url.length + article.url.length + article.name.length
}

const ARTICLE_COLUMNS = sql`article_id, uid, pub_id, url, name, publication_date,
  datetime_created, datetime_updated`
const LINK_COLUMNS = sql`smart_link_id, auction_id, pub_id, url, is_exclusive, is_keyless, state,
  source, datetime_created, datetime_updated`
const URL_HASH_BYTES = 16 // 128 bits make a collision within an article impossible in practice.

/** A link to create. */
export interface SmartLinkRequest {
  readonly article: WantedArticle
  readonly url: string | null
  readonly isExclusive: boolean
}

/**
 * Creates a smart link, and its article if missing, in one statement. A second identical call
 * creates a second link.
 */
export async function insertSmartLink(
  db: Db,
  { article, url, isExclusive, auctionId }: SmartLinkRequest & { readonly auctionId: string },
): Promise<CreatedLinkRow> {
  const row = await db.row<CreatedLinkRow['link'] & { article: ArticleRow }>(sql`
    with ${articleSteps(article)}, link as (
      insert into smart_link (auction_id, pub_id, article_id, uid_created, url, url_hash,
        is_exclusive, source, is_article_given, datetime_created, datetime_updated)
      select ${auctionId}::bigint, pub_id, article_id, ${article.uid}::int, ${url}::text,
        ${hashOfUrl(url)}::bytea, ${isExclusive}::boolean, 'api', true,
        ${article.at}::timestamptz, ${article.at}::timestamptz
      from found
      returning smart_link_id, auction_id, uid_created, pub_id, url, is_exclusive,
        datetime_created
    )
    select link.*, row_to_json(found) as article from link cross join found
  `)
  const { article: found, ...created } = row as NonNullable<typeof row>
  return { link: created, article: withDates(found) }
}

/**
 * The existing links of an article: the oldest of each kind, and a disabled one only if there is no
 * other.
 */
export function findLinks(
  db: Db,
  { pubId, articleKey, links }: { pubId: number; articleKey: Buffer; links: readonly LinkToFind[] },
): Promise<FoundLinkRow[]> {
  return db.rows(sql`
    select distinct on (url_hash, is_exclusive, unwraps) ${LINK_COLUMNS} from smart_link
    join unnest(
      ${links.map(({ url }) => hashOfUrl(url))}::bytea[],
      ${links.map(({ isExclusive }) => isExclusive)}::boolean[],
      ${links.map(({ unwraps }) => unwraps)}::boolean[]
    ) as wanted (url_hash, is_exclusive, unwraps) using (url_hash, is_exclusive, unwraps)
    where article_id = (
      select article_id from article where pub_id = ${pubId} and url_key = ${articleKey}
    )
    order by url_hash, is_exclusive, unwraps, state = 'disabled', auction_id
  `)
}

/**
 * Finds or creates links of an article, and the article itself, in one statement without races.
 *
 * Rows are inserted in the order of their hash, so that two requests for one article cannot
 * deadlock. A link requested with a key loses its keyless mark, and an article once named by its
 * publisher keeps that mark.
 */
export function findOrCreateLinks(
  db: Db,
  options: {
    article: WantedArticle
    links: readonly (LinkToFind & { auctionId: string })[]
    source: 'linkmate' | 'wrapper'
    /** The publisher named the article; it was not read from a page. */
    isArticleGiven: boolean
  },
): Promise<FoundLinkRow[]> {
  const { article, links, source, isArticleGiven } = options
  return db.rows(sql`
    with ${articleSteps(article)}
    insert into smart_link (auction_id, pub_id, article_id, uid_created, url, url_hash,
      is_exclusive, source, is_article_given, is_keyless, unwraps, datetime_created,
      datetime_updated)
    select auction_id, found.pub_id, article_id, null, wanted.url, url_hash, is_exclusive,
      ${source}, ${isArticleGiven}::boolean, ${!article.isTrusted}::boolean, unwraps,
      ${article.at}::timestamptz, ${article.at}::timestamptz
    from found cross join unnest(
      ${links.map(({ auctionId }) => auctionId)}::bigint[],
      ${links.map(({ url }) => url)}::text[],
      ${links.map(({ url }) => hashOfUrl(url))}::bytea[],
      ${links.map(({ isExclusive }) => isExclusive)}::boolean[],
      ${links.map(({ unwraps }) => unwraps)}::boolean[]
    ) as wanted (auction_id, url, url_hash, is_exclusive, unwraps)
    order by url_hash, is_exclusive
    on conflict (article_id, url_hash, is_exclusive, unwraps) where source <> 'api'
    do update set is_keyless = smart_link.is_keyless and excluded.is_keyless,
      is_article_given = smart_link.is_article_given or excluded.is_article_given
    returning ${LINK_COLUMNS}
  `)
}

/** Updates the name of an existing article. Usually writes nothing. */
export async function renameArticle(db: Db, article: WantedArticle): Promise<void> {
  await db.run(sql`
    update article set name = ${article.name}, datetime_updated = ${article.at}
    where pub_id = ${article.pubId} and url_key = ${article.urlKey} and name <> ${article.name}
  `)
}

/**
 * The links that calls without a key have created for a publisher in this hour. The count stays
 * locked until the transaction ends, so such calls create links one after the other.
 */
export async function lockKeylessCount(
  tx: Db,
  { pubId, now }: { pubId: number; now: Date },
): Promise<number> {
  const row = await tx.row<{ links: number }>(sql`
    insert into keyless_link_hour as counter (pub_id, hour, links)
    values (${pubId}, ${hourOf(now)}, 0)
    on conflict (pub_id, hour) do update set links = counter.links
    returning links
  `)
  return row?.links ?? 0
}

/** Adds to the count of `lockKeylessCount`, in the transaction that creates the links. */
export async function addToKeylessCount(
  tx: Db,
  { pubId, now, links }: { pubId: number; now: Date; links: number },
): Promise<void> {
  await tx.run(sql`
    update keyless_link_hour set links = links + ${links}
    where pub_id = ${pubId} and hour = ${hourOf(now)}
  `)
}

/** The domains among these that belong to merchants of the network. */
export async function listMerchantDomains(
  db: Db,
  domains: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.rows<{ domain: string }>(
    sql`select domain from merchant_domain where domain = any(${domains}::text[])`,
  )
  return new Set(rows.map(({ domain }) => domain))
}

/** Disables a link: it leads to the original page, and none of its results is paid. */
export async function disableLink(
  db: Db,
  auctionId: string,
): Promise<{ auction_id: string; state: string }> {
  const row = await db.row<{ auction_id: string; state: string }>(sql`
    update smart_link set state = 'disabled', disabled_by = 'operator',
      datetime_updated = case when state = 'disabled' then datetime_updated else now() end
    where auction_id = ${auctionId}::bigint
    returning auction_id, state
  `)
  if (row === null) throw notFound(`No smart link ${auctionId}`)
  return row
}

export interface ListedLinkRow extends Omit<FoundLinkRow, 'url'> {
  readonly url: string | null
  readonly article_url: string
}

const LISTED_COLUMNS = sql`smart_link_id, auction_id, l.pub_id, l.url, is_exclusive, is_keyless,
  state, source, l.datetime_created, l.datetime_updated, a.url as article_url`

/** The newest smart links of all publishers, newest first. */
export function listLinks(db: Db): Promise<ListedLinkRow[]> {
  return db.rows(sql`
    select ${LISTED_COLUMNS}
    from smart_link l join article a using (article_id)
    order by auction_id desc limit ${LIST_ROWS_MAX}
  `)
}

/** A search text: a link's id, or words of its URL or its article. */
export interface LinkSearch {
  readonly text: string // case-insensitive; no character is a wildcard
  readonly auctionId: string | null
}

/** The smart links of one publisher, newest first, before a given auction id. */
export function listLinksOfPublisher(
  db: Db,
  options: { pubId: number; before: string | null; search: LinkSearch | null; limitRows: number },
): Promise<(ListedLinkRow & { article_name: string })[]> {
  const { pubId, before, search, limitRows } = options
  return db.rows(sql`
    select ${LISTED_COLUMNS}, a.name as article_name
    from smart_link l join article a using (article_id)
    where l.pub_id = ${pubId} and (${before}::bigint is null or auction_id < ${before}::bigint)
      and ${search === null ? sql`true` : isFound(search)}
    order by auction_id desc limit ${limitRows}
  `)
}

/** With few matches it reads every link of the publisher: one second for a million. */
function isFound({ text, auctionId }: LinkSearch): Sql {
  return sql`(auction_id = ${auctionId}::bigint
    or strpos(lower(concat_ws(chr(10), l.url, a.url, a.name)), lower(${text})) > 0)`
}

/**
 * The steps of a `with` that end in `found`: the article, created if missing and updated if its
 * name or date changed. Usually nothing is written. A concurrent write shows only in the row that
 * the conflict returns, which is then updated and returned.
 */
function articleSteps(article: WantedArticle): Sql {
  const { pubId, uid, url, urlKey, name, publicationDate, at, isTrusted } = article
  const isAsWanted = isTrusted
    ? sql`(name, publication_date) is not distinct from
        (${name}::text, coalesce(${publicationDate}::timestamptz, publication_date))`
    : sql`true`
  return sql`existing as (
      select ${ARTICLE_COLUMNS} from article where pub_id = ${pubId} and url_key = ${urlKey}
    ), written as (
      insert into article (pub_id, uid, url, url_key, name, publication_date, datetime_created,
        datetime_updated)
      select ${pubId}::int, ${uid}::int, ${url}::text, ${urlKey}::bytea, ${name}::text,
        ${publicationDate}::timestamptz, ${at}::timestamptz, ${at}::timestamptz
      where not exists (select from existing where ${isAsWanted})
      on conflict (pub_id, url_key) do update set ${isTrusted ? TAKEN_OVER : KEPT}
      returning ${ARTICLE_COLUMNS}
    ), found as (
      select * from written
      union all select * from existing where not exists (select from written)
    )`
}

/** The no-op update makes the statement return the row. */
const KEPT = sql`url = article.url`
const TAKEN_OVER = sql`
  name = excluded.name,
  publication_date = coalesce(excluded.publication_date, article.publication_date),
  datetime_updated = case
    when (article.name, article.publication_date) is not distinct from
      (excluded.name, coalesce(excluded.publication_date, article.publication_date))
    then article.datetime_updated
    else greatest(article.datetime_updated, excluded.datetime_updated)
  end`

function hourOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS)
}

/** The hash of a URL byte for byte; for a link without one, of nothing. */
export function hashOfUrl(url: string | null): Buffer {
  return hash('sha256', url ?? '', 'buffer').subarray(0, URL_HASH_BYTES)
}

/** Deletes the counts of past hours. Returns their number. */
export function deletePastLinkHours(db: Db, now: Date): Promise<number> {
  return db.run(
    sql`delete from keyless_link_hour where hour < ${new Date(now.getTime() - HOUR_MS)}`,
  )
}

/** row_to_json returns timestamps as text. */
function withDates(row: ArticleRow): ArticleRow {
  const date = (value: Date | null) => (value === null ? null : new Date(value))
  return {
    ...row,
    publication_date: date(row.publication_date),
    datetime_created: new Date(row.datetime_created),
    datetime_updated: new Date(row.datetime_updated),
  }
}
