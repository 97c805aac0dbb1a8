/**
 * What changed in the statistics since a time, and why: figures by their changes, in the order in
 * which they came; page impressions, which have no changes of their own, by article and day.
 */
import { formatExact } from '../platform/money.ts'
import type { Db } from '../platform/postgres.ts'
import { type Sql, sql } from '../platform/sql.ts'
import { formatTimestamp } from '../platform/timestamp.ts'
import { type ChangeCursor, formatCursor, type SeenPlace } from './change-cursor.ts'
import type { StatsChanges } from './schema.ts'
import { IS_ARTICLE_THERE } from './store.ts'

export interface ChangesRequest {
  readonly pubId: number
  readonly since: Date
  readonly cursor: ChangeCursor
  readonly limitRows: number // of either list
}

/** A page of both lists; the next one goes on in both. */
export async function listChanges(db: Db, request: ChangesRequest): Promise<StatsChanges> {
  const { pubId, since, cursor, limitRows } = request
  const changes = await listFigureChanges(db, request)
  const seen = await listSeenSince(db, request)
  const isMore = changes.length === limitRows || seen.length === limitRows
  const last = seen.at(-1)
  const next = {
    changeId: changes.at(-1)?.change_id ?? cursor.changeId,
    seen: last === undefined ? cursor.seen : placeOf(last),
  }
  return {
    pub_id: pubId,
    since: formatTimestamp(since),
    next: isMore ? formatCursor(next) : null,
    changes: changes.map(({ day, sales, revenue_micros, earnings_micros, ...row }) => ({
      ...row,
      changed_at: formatTimestamp(row.changed_at),
      event_date: day,
      clicks: Number(row.clicks),
      advertiser_attributed_sales: Number(sales),
      advertiser_attributed_revenue: formatExact(revenue_micros),
      pub_earnings: formatExact(earnings_micros),
    })),
    impressions: seen.map((row) => ({
      changed_at: formatTimestamp(row.changed_at),
      event_date: row.day,
      article_id: row.article_id,
      impressions: Number(row.impressions),
    })),
  }
}

interface ChangeRow {
  readonly change_id: string
  readonly changed_at: Date
  readonly cause: string
  readonly event_ids: string[]
  readonly day: string
  readonly article_id: number
  readonly merch_id: number
  readonly clicks: string
  readonly sales: string
  readonly revenue_micros: string
  readonly earnings_micros: string
}

function listFigureChanges(db: Db, request: ChangesRequest): Promise<ChangeRow[]> {
  const { pubId, since, cursor, limitRows } = request
  return db.rows(sql`
    select change_id, changed_at, cause, event_ids, day, article_id, merch_id, clicks, sales,
      revenue_micros, earnings_micros
    from stats_change
    where pub_id = ${pubId} and changed_at >= ${since} and change_id > ${cursor.changeId}
    order by change_id limit ${limitRows}`)
}

interface SeenRow {
  readonly changed_at: Date
  readonly at_micros: string
  readonly day: string
  readonly day_number: number
  readonly article_id: number
  readonly impressions: string
}

function placeOf({ at_micros, article_id, day_number }: SeenRow): SeenPlace {
  return { atMicros: at_micros, articleId: String(article_id), dayNumber: String(day_number) }
}

/**
 * Article-days by the time at which the report came to show what it shows now: the last that were
 * seen, or their article made after they were. One that is seen meanwhile comes again, later on.
 */
function listSeenSince(db: Db, request: ChangesRequest): Promise<SeenRow[]> {
  const { pubId, since, cursor, limitRows } = request
  const { atMicros, articleId, dayNumber } = cursor.seen
  const from = sql`
    greatest(${since}, timestamptz 'epoch' + ${atMicros}::bigint * interval '1 microsecond')`
  const shown = (isDue: Sql) => sql`
    select greatest(changed_at, datetime_created) as changed_at, day, article_id, impressions
    from page_day join article using (pub_id, url_key)
    where pub_id = ${pubId} and ${isDue} and impressions > 0 and ${IS_ARTICLE_THERE}`
  return db.rows(sql`
    select *
    from (
      select *, (extract(epoch from changed_at) * 1000000)::bigint as at_micros,
        day - date '1970-01-01' as day_number
      from (
        ${shown(sql`changed_at >= ${from}`)} union ${shown(sql`datetime_created >= ${from}`)}
      ) as told
    ) as placed
    where (at_micros, article_id, day_number)
      > (${atMicros}::bigint, ${articleId}::bigint, ${dayNumber}::int)
    order by at_micros, article_id, day_number limit ${limitRows}`)
}
