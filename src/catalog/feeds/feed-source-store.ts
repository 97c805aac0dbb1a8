/** The sources of merchants' feeds: feeds with a URL are fetched repeatedly. */

import { startPoller } from '../../platform/concurrency/poller.ts'
import { type Database, type Db, ping } from '../../platform/postgres/postgres.ts'
import { withSessionLocks } from '../../platform/postgres/session-locks.ts'
import { type Sql, sql } from '../../platform/postgres/sql.ts'
import type { FeedFormat } from './feed-format.ts'
import type { FeedOptions } from './feed-options.ts'

export interface FeedSource extends FeedOptions {
  readonly merch_id: number
  readonly url: string
}

export interface NewFeedSource extends Partial<FeedOptions> {
  readonly merch_id: number
  readonly url: string
  readonly format: FeedFormat
  readonly at: Date
}

/** Offers bid for 24 hours (docs/spec/auction.md#eligibility), which leaves time for retries. */
const FETCHED_EVERY_HOURS = 6

/** A source without its password. */
export interface StoredFeedSource extends FeedSource {
  /** How often it is fetched; null: only when somebody asks. */
  readonly every_hours: number | null
  readonly error: string | null
  readonly tried_at: Date
  readonly datetime_created: Date
  readonly datetime_updated: Date
}

export function findFeedSource(db: Db, merchId: number): Promise<StoredFeedSource | null> {
  return db.row(sql`
    select merch_id, url, format, map, currency, element, every_hours, error, tried_at,
      datetime_created, datetime_updated
    from feed_source where merch_id = ${merchId}`)
}

/** Nobody else sets the merchant's source until the transaction ends, also where there is none. */
export async function lockFeedSource(tx: Db, merchId: number): Promise<void> {
  await tx.run(sql`select from merchant where merch_id = ${merchId} for no key update`)
}

/** Sets a merchant's source. It is fetched when it is due, whatever was tried before. */
export async function setFeedSource(
  db: Db,
  source: FeedSource & { readonly every_hours: number | null },
): Promise<void> {
  const { merch_id, url, format, map, currency, element, every_hours } = source
  await db.run(sql`
    insert into feed_source (merch_id, url, format, map, currency, element, every_hours, tried_at)
    values (${merch_id}, ${url}, ${format}, ${map === null ? null : JSON.stringify(map)}::jsonb,
      ${currency}, ${element}, ${every_hours}, 'epoch')
    on conflict (merch_id) do update set url = excluded.url, format = excluded.format,
      map = excluded.map, currency = excluded.currency, element = excluded.element,
      every_hours = excluded.every_hours, tried_at = excluded.tried_at, error = null,
      datetime_updated = now()`)
}

/** Stores the URL of a feed, to fetch it from there from now on. */
export async function saveFeedSource(
  db: Db,
  { merch_id, url, at, ...options }: NewFeedSource,
): Promise<void> {
  const { format, map = null, currency = null, element = null } = options
  await db.run(sql`
    insert into feed_source (merch_id, url, format, map, currency, element, every_hours, tried_at)
    values (${merch_id}, ${url}, ${format}, ${map === null ? null : JSON.stringify(map)}::jsonb,
      ${currency}, ${element}, ${FETCHED_EVERY_HOURS}, ${at})
    on conflict (merch_id) do update set url = excluded.url, format = excluded.format,
      map = excluded.map, currency = excluded.currency, element = excluded.element,
      every_hours = excluded.every_hours, tried_at = excluded.tried_at, error = null,
      datetime_updated = now()`)
}

/** A feed came from a file: its stored URL no longer applies. */
export async function dropFeedSource(db: Db, merchId: number): Promise<void> {
  await db.run(sql`delete from feed_source where merch_id = ${merchId}`)
}

/**
 * The due feed with the oldest attempt, marked as tried at `at`: no other call of that time returns
 * it. Includes feeds without any valid row.
 */
export function takeDueFeed(db: Db, at: Date): Promise<FeedSource | null> {
  return db.row(sql`
    update feed_source set tried_at = ${at} where merch_id = (
      select merch_id from feed_source where ${isDue(at)} and tried_at <> ${at}
      order by tried_at, merch_id limit 1 for update skip locked)
    returning merch_id, url, format, map, currency, element`)
}

/** False if it was imported otherwise, or got another URL, while it was fetched. */
export async function isStillDue(
  db: Db,
  { merch_id, url, at }: Pick<FeedSource, 'merch_id' | 'url'> & { readonly at: Date },
): Promise<boolean> {
  const row = await db.row(sql`
    select from feed_source where merch_id = ${merch_id} and url = ${url} and ${isDue(at)}`)
  return row !== null
}

function isDue(at: Date): Sql {
  return sql`every_hours is not null and exists (
    select from merchant where merchant.merch_id = feed_source.merch_id
      and coalesce(
        feed_imported_at < ${at}::timestamptz - make_interval(hours => every_hours), true))`
}

/** It may quote the feed, and PostgreSQL accepts no NUL. */
export async function noteFeedError(
  db: Db,
  {
    merch_id,
    url,
    error,
  }: Pick<FeedSource, 'merch_id' | 'url'> & { readonly error: string | null },
): Promise<void> {
  const message = error?.replaceAll('\0', ' ') ?? null
  await db.run(sql`
    update feed_source set error = ${message} where merch_id = ${merch_id} and url = ${url}`)
}

/** The lock of the worker that fetches feeds. */
const FETCH_LOCK = 1_718_580_580
/** A worker that hangs, or whose machine is gone, blocks the others for no longer. */
const SILENCE_MS_MAX = 60_000

/** Does the work, unless another worker is doing it: then null. */
export async function whileNobodyFetches<T>(
  db: Database,
  work: () => Promise<T>,
  { silenceMsMax = SILENCE_MS_MAX } = {},
): Promise<T | null> {
  return withSessionLocks(db, silenceMsMax, async (session) => {
    // Other connections do the work, so this one reports regularly that it continues.
    const life = startPoller(() => ping(session), {
      everyMs: silenceMsMax / 3,
      onError: () => undefined, // The session is gone: started work finishes nevertheless.
    })
    try {
      const row = await session.row<{ is_mine: boolean }>(
        sql`select pg_try_advisory_lock(${FETCH_LOCK}) as is_mine`,
      )
      return row?.is_mine === true ? await work() : null
    } finally {
      clearInterval(life)
    }
  })
}
