/** What a publisher's page tag reported lately, and the links that nobody pays for, in SQL. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { LinkOfMarket } from './link-market-store.ts'

/** The newest links of a publisher that are looked at. */
const LINKS_MAX = 2_000

export interface TagRow {
  readonly host: string
  readonly consent: number
  readonly page_views: string
  readonly last_at: Date
}

export function listTagRows(
  db: Db,
  { pubId, dayFrom }: { readonly pubId: number; readonly dayFrom: string },
): Promise<TagRow[]> {
  return db.rows(sql`
    select host, consent, sum(page_views)::bigint as page_views, max(last_at) as last_at
    from tag_day where pub_id = ${pubId} and day >= ${dayFrom}
    group by host, consent order by last_at desc`)
}

/** The last report, whenever it was. */
export async function findLastReport(db: Db, pubId: number): Promise<Date | null> {
  const row = await db.row<{ last_at: Date | null }>(sql`
    select max(last_at) as last_at from tag_day where pub_id = ${pubId}`)
  return row?.last_at ?? null
}

/** The newest links on pages, with how often they were loaded since then. */
export function listSeenLinks(
  db: Db,
  { pubId, dayFrom }: { readonly pubId: number; readonly dayFrom: string },
): Promise<(LinkOfMarket & { readonly impressions: string })[]> {
  return db.rows(sql`
    select auction_id, url, unwraps, is_exclusive, coalesce((
      select sum(impressions)::bigint from link_day
      where link_day.pub_id = ${pubId} and link_day.auction_id = l.auction_id and day >= ${dayFrom}
    ), 0) as impressions
    from smart_link l where pub_id = ${pubId} and state = 'active' and url is not null
    order by auction_id desc limit ${LINKS_MAX}`)
}
