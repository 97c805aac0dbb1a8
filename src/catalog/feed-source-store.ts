/** Where merchants' feeds came from: web addresses are fetched again and again. */
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import type { FeedFormat } from './feed-format.ts'

export interface FeedSource {
  readonly merch_id: number
  readonly url: string
  readonly format: FeedFormat
}

/** A feed bids for 24 hours (economics 1.2): so there is time for many more tries. */
const FETCHED_EVERY = '6 hours'

/** A feed came from a web address, and is fetched there from now on. */
export async function keepFeedSource(
  db: Db,
  { merch_id, url, format, at }: FeedSource & { readonly at: Date },
): Promise<void> {
  await db.run(sql`
    insert into feed_source (merch_id, url, format, tried_at)
    values (${merch_id}, ${url}, ${format}, ${at})
    on conflict (merch_id) do update set url = excluded.url, format = excluded.format,
      tried_at = excluded.tried_at, error = null`)
}

/** A feed came from a file: what its address says is no longer wanted. */
export async function dropFeedSource(db: Db, merchId: number): Promise<void> {
  await db.run(sql`delete from feed_source where merch_id = ${merchId}`)
}

/** Whose feed is to be fetched again; whoever has waited longest comes first. */
export function listDueFeeds(db: Db, at: Date): Promise<FeedSource[]> {
  return db.rows(sql`
    select merch_id, url, format from feed_source join merchant using (merch_id)
    where feed_imported_at < ${at}::timestamptz - ${FETCHED_EVERY}::interval
    order by tried_at, merch_id`)
}

export async function noteFeedTry(
  db: Db,
  { merchId, at, error }: { merchId: number; at: Date; error: string | null },
): Promise<void> {
  await db.run(sql`
    update feed_source set tried_at = ${at}, error = ${error} where merch_id = ${merchId}`)
}
