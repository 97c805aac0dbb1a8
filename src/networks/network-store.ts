/** Reads what an import from another network needs: click owners, publishers, stored lines. */
import { clickIdBytes } from '../events/click-id.ts'
import { EVENT_TYPE, MONEY_LANE } from '../events/event.ts'
import { firstUnfoldedDay } from '../events/unfolded-days-store.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { NetworkLine } from './merge-network-lines.ts'
import type { ReadRow } from './read-network-row.ts'

type ReportNames = Pick<ReadRow, 'day' | 'transactionId' | 'originalId' | 'orderId'>

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

/** The hash (hex) of the rows shown for each partition: `<account> <day>`. */
export async function findShownPartitions(
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

/** A shown line, with everything an import needs to show it again. */
export type ShownLine = NetworkLine

interface ShownLineRow {
  readonly account: string
  readonly report_date: string
  readonly pub_id: number
  readonly article_id: number
  readonly advertiser: string | null
  readonly clicks: string
  readonly sales: string
  readonly revenue_micros: string
  readonly earnings_micros: string
  readonly transaction_id: string | null
  readonly original_id: string | null
  readonly order_id: string | null
  readonly item: string | null
  readonly posted: string | null
  readonly amounts: string | null
  readonly are_sales_reported: boolean | null
}

/**
 * All shown lines of the partitions that a report touches: of its days, and those with a
 * transaction or an order that it names.
 */
export async function findShownLines(
  db: Db,
  { network, rows }: { readonly network: string; readonly rows: readonly ReportNames[] },
): Promise<ShownLine[]> {
  const distinct = (values: readonly (string | null)[]) => [
    ...new Set(values.filter((value) => value !== null)),
  ]
  const days = distinct(rows.map(({ day }) => day))
  const ids = distinct(rows.flatMap(({ transactionId, originalId }) => [transactionId, originalId]))
  const originals = distinct(rows.map(({ originalId }) => originalId))
  const orders = distinct(rows.map(({ orderId }) => orderId))
  const found = await db.rows<ShownLineRow>(sql`
    with shown as (
      select import_id, account, report_date from network_partition
      where network = ${network} and until is null
    ), touched as (
      select import_id from shown where report_date = any(${days}::date[])
      union select import_id from network_row where transaction_id = any(${ids}::text[])
      union select import_id from network_row where original_id = any(${originals}::text[])
      union select import_id from network_row where order_id = any(${orders}::text[])
    )
    select account, report_date::text, pub_id, article_id, advertiser, clicks, sales,
      revenue_micros, earnings_micros, transaction_id, original_id, order_id, item, posted,
      amounts, are_sales_reported
    from touched join shown using (import_id) join network_row using (import_id, report_date)
    order by import_id, row`)
  return found.map((row) => ({
    account: row.account,
    day: row.report_date,
    pubId: row.pub_id,
    articleId: row.article_id,
    advertiser: row.advertiser,
    clicks: Number(row.clicks),
    sales: Number(row.sales),
    revenueMicros: Number(row.revenue_micros),
    earningsMicros: Number(row.earnings_micros),
    transactionId: row.transaction_id,
    originalId: row.original_id,
    orderId: row.order_id,
    item: row.item,
    posted: row.posted,
    amounts: row.amounts,
    areSalesReported: row.are_sales_reported ?? true,
  }))
}

/** Whether an import was recorded that the fold has not processed yet. */
export async function isImportWaiting(db: Db): Promise<boolean> {
  const dayFrom = await firstUnfoldedDay(db, [MONEY_LANE])
  const row = await db.row<{ is_waiting: boolean }>(sql`
    select exists (
      select from event join lane using (lane)
      where lane = ${MONEY_LANE} and seq > position and day >= ${dayFrom}
        and type = ${EVENT_TYPE.networkRow}
    ) as is_waiting`)
  return row?.is_waiting === true
}

/** First key of the advisory lock for imports of a network; the second is its name, hashed. */
const IMPORT_LOCK = 1_852_143_476

/** Imports of one network run one at a time, because each replaces lines that it read before. */
export async function lockNetwork(session: Db, network: string): Promise<void> {
  await session.run(sql`select pg_advisory_lock(${IMPORT_LOCK}::int, hashtext(${network}))`)
}
