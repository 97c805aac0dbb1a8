/**
 * The versions of offers in SQL: read before an import, written in chunks, and shown at once.
 *
 * A version is visible from `from_generation` to before `to_generation` of its merchant. An import
 * at generation g writes versions from g + 1 and ends others at g + 1: both have no effect until
 * `merchant.generation` becomes g + 1. So chunks are committed as they come (no long transaction),
 * and a failed import has changed nothing visible.
 */

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Db, ReservedDb } from '../../platform/postgres/postgres.ts'
import { type Sql, sql } from '../../platform/postgres/sql.ts'
import type { OfferContent } from './check-offer.ts'

/** The facts of a merchant that its import needs. */
export interface FeedOwner {
  readonly generation: number
  readonly domains: readonly string[]
  readonly default_currency: string | null
  /** True while an import runs, and after an unfinished one. */
  readonly has_leftovers: boolean
}

export interface StoredOffer {
  readonly offer_id: string
  readonly sku: string
  /** 16 hexadecimal digits. */
  readonly content_hash: string
}

/** Rows of COPY text, and the offers they replace. */
export interface OfferChunk {
  /** Lines for `COPY_ADDED`. */
  readonly added: readonly Buffer[]
  /** Lines for `COPY_CHANGED`, with the offer id at the end. */
  readonly changed: readonly Buffer[]
  /** Offers whose open version ends with this import. */
  readonly endedOfferIds: readonly number[]
}

/**
 * First of the two keys of an import's advisory locks, one lock for each of its writers from here
 * on; the second key is the merchant's id.
 */
const IMPORT_LOCK = 1_718_580_581
const FETCH_ROWS = 10_000

interface FeedWriter {
  readonly merchId: number
  readonly writer: number // 0, 1 …
}

/**
 * Takes one writer's lock of the merchant's import for this connection; false when another import
 * has it. Each connection has a separate lock, so that the next import waits for a chunk that a
 * killed import left running.
 */
export async function lockMerchantFeed(db: Db, { merchId, writer }: FeedWriter): Promise<boolean> {
  const row = await db.row<{ is_locked: boolean }>(
    sql`select pg_try_advisory_lock(${IMPORT_LOCK + writer}::int, ${merchId}) as is_locked`,
  )
  return row?.is_locked ?? false
}

/**
 * Whether an import holds the merchant's first lock. A killed process has lost it before its
 * silence is noticed.
 */
export const isImportLocked = (merchId: number): Sql => sql`exists (
  select from pg_locks where locktype = 'advisory' and granted
    and database = (select oid from pg_database where datname = current_database())
    and classid = ${IMPORT_LOCK}::int::oid and objid = ${merchId}::int::oid and objsubid = 2)`

/** Releases the lock if this connection has it. */
export async function unlockMerchantFeed(db: Db, { merchId, writer }: FeedWriter): Promise<void> {
  await db.run(sql`select pg_advisory_unlock(${IMPORT_LOCK + writer}::int, ${merchId})`)
}

export function findFeedOwner(db: Db, merchId: number): Promise<FeedOwner | null> {
  return db.row<FeedOwner>(sql`
    select generation, default_currency,
      array(select domain from merchant_domain d where d.merch_id = m.merch_id) as domains,
      exists(select from feed_import i where i.merch_id = m.merch_id) as has_leftovers
    from merchant m where merch_id = ${merchId}
  `)
}

/** The merchant's current offers, in batches. */
export function eachStoredOffer(
  db: Db,
  merchId: number,
  take: (offers: readonly StoredOffer[]) => void,
): Promise<void> {
  const stored = sql`
    select offer_id, sku, encode(content_hash, 'hex') as content_hash from offer
    where merch_id = ${merchId} and to_generation is null`
  return eachBatch(db, stored, take)
}

/** In one transaction, so all from one moment. */
function eachBatch<Row>(db: Db, query: Sql, take: (rows: readonly Row[]) => void): Promise<void> {
  return db.transaction(async (tx) => {
    await tx.run(sql`declare batches no scroll cursor for ${query}`)
    for (;;) {
      const rows = await tx.rows<Row>(sql`fetch 10000 from batches`)
      take(rows)
      if (rows.length < FETCH_ROWS) return
    }
  })
}

/** Notes that rows of an unfinished import may exist from now on. */
export async function markImport(db: Db, merchId: number): Promise<void> {
  await db.run(sql`
    insert into feed_import (merch_id) values (${merchId}) on conflict do nothing
  `)
}

export async function unmarkImport(db: Db, merchId: number): Promise<void> {
  await db.run(sql`delete from feed_import where merch_id = ${merchId}`)
}

/**
 * Writes one chunk and commits it without waiting for the disk (synchronous_commit): a chunk lost
 * in a crash belongs to a failed import, and the switch is durable.
 */
export async function writeChunk(
  db: ReservedDb,
  { merchId, generation, chunk }: { merchId: number; generation: number; chunk: OfferChunk },
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(sql`set local synchronous_commit to off`)
    if (chunk.endedOfferIds.length > 0) {
      await tx.run(sql`
        update offer set to_generation = ${generation}
        where merch_id = ${merchId} and to_generation is null
          and offer_id = any(${chunk.endedOfferIds}::bigint[])
      `)
    }
    await copyOffers(db.client, COPY_ADDED, chunk.added)
    await copyOffers(db.client, COPY_CHANGED, chunk.changed)
  })
}

const COLUMNS = `merch_id, from_generation, sku, gtin14, gtin_text, title, brand, mpn, url, url_key,
  image_url, price_micros, is_in_stock, category_id, regular_price_micros,
  description, color, size, item_group_id, content_hash`
const COPY_ADDED = `copy offer (${COLUMNS}) from stdin`
const COPY_CHANGED = `copy offer (${COLUMNS}, offer_id) from stdin`

async function copyOffers(
  client: PoolClient,
  text: string,
  lines: readonly Buffer[],
): Promise<void> {
  if (lines.length > 0) await pipeline(Readable.from(lines), client.query(copyFrom(text)))
}

/** Shows the new generation; the one moment in which anything changes for readers. */
export async function switchGeneration(
  db: Db,
  { merchId, from }: { merchId: number; from: number },
): Promise<void> {
  const rows = await db.run(sql`
    update merchant set generation = ${from} + 1, feed_imported_at = now()
    where merch_id = ${merchId} and generation = ${from}
  `)
  if (rows !== 1) throw new Error('the merchant changed during the import; nothing was changed')
}

/** An import without any change. */
export async function touchMerchantFeed(db: Db, merchId: number): Promise<void> {
  await db.run(sql`update merchant set feed_imported_at = now() where merch_id = ${merchId}`)
}

/** Deletes versions that are no longer visible. */
export async function deleteEnded(
  db: Db,
  { merchId, upTo, offerIds }: { merchId: number; upTo: number; offerIds: readonly number[] },
): Promise<void> {
  for (let at = 0; at < offerIds.length; at += FETCH_ROWS) {
    await db.run(sql`
      delete from offer
      where merch_id = ${merchId} and to_generation <= ${upTo}
        and offer_id = any(${offerIds.slice(at, at + FETCH_ROWS)}::bigint[])
    `)
  }
}

/** Undoes an unfinished import: deletes its versions and reopens those it ended. */
export async function cleanLeftovers(
  db: Db,
  { merchId, generation }: { merchId: number; generation: number },
): Promise<void> {
  const touched: string[] = []
  const leftover = sql`
    select distinct offer_id from offer
    where merch_id = ${merchId} and (from_generation > ${generation} or to_generation is not null)`
  await eachBatch<{ offer_id: string }>(db, leftover, (rows) => {
    touched.push(...rows.map((row) => row.offer_id))
  })
  for (let at = 0; at < touched.length; at += FETCH_ROWS) {
    const offerIds = touched.slice(at, at + FETCH_ROWS)
    await db.transaction(async (tx) => {
      await tx.run(sql`
        delete from offer
        where merch_id = ${merchId} and offer_id = any(${offerIds}::bigint[])
          and (from_generation > ${generation} or to_generation <= ${generation})
      `)
      await tx.run(sql`
        update offer set to_generation = null
        where merch_id = ${merchId} and offer_id = any(${offerIds}::bigint[])
          and to_generation > ${generation}
      `)
    })
  }
}

/** After a large change the planner must not assume a small table. */
export async function analyzeOffers(db: Db): Promise<void> {
  await db.run(sql`analyze offer`)
}

/** An offer's own columns as COPY text, from `sku` to `item_group_id`. */
export function offerText(offer: OfferContent): string {
  const { sku, gtin14, gtinText, title, brand, mpn, url, urlKeyHex, imageUrl } = offer
  const { priceMicros, isInStock, categoryId, regularPriceMicros } = offer
  const names = `${field(sku)}\t${gtin14 ?? NULL}\t${field(gtinText)}\t${field(title)}`
  const maker = `${field(brand)}\t${field(mpn)}`
  const addresses = `${field(url)}\t\\\\x${urlKeyHex}\t${field(imageUrl)}`
  const terms = `${priceMicros}\t${isInStock ? 't' : 'f'}\t${categoryId ?? NULL}`
  const details = `${regularPriceMicros ?? NULL}\t${field(offer.description)}`
  const traits = `${field(offer.color)}\t${field(offer.size)}\t${field(offer.itemGroupId)}`
  return `${names}\t${maker}\t${addresses}\t${terms}\t${details}\t${traits}`
}

const NULL = '\\N'

// Texts hold no tab and no line end (check-offer.ts), so only the backslash needs care.
function field(text: string | null): string {
  if (text === null) return NULL
  return text.includes('\\') ? text.replaceAll('\\', '\\\\') : text
}
