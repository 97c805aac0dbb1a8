/**
 * Lists the changes of the statistics since a time, with their causes: figures by their stored
 * changes, other networks' rows by the imports that changed them, and rows from placements and page
 * impressions by the time of their last change.
 */
import { IS_ARTICLE_THERE } from '../links/article-views-store.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { formatTimestamp } from '../platform/time/timestamp.ts'
import { type ChangeCursor, type ChangeList, formatCursor, type Place } from './change-cursor.ts'
import type { StatsChanges } from './schema.ts'

export interface ChangesRequest {
  readonly pubId: number
  readonly since: Date
  readonly cursor: ChangeCursor
  readonly limitRows: number // per list
}

/** A page of every list. The next page continues in all of them. */
export async function listChanges(db: Db, request: ChangesRequest): Promise<StatsChanges> {
  const { pubId, since, cursor } = request
  const changes = await page<FigureChangeRow>(db, request, FIGURES)
  const placements = await page<PlacedRow>(db, request, PLACEMENTS)
  const networks = await page<NetworkChangeRow>(db, request, NETWORKS)
  const impressions = await page<SeenRow>(db, request, IMPRESSIONS)
  const pages = [changes, placements, networks, impressions]
  const end = formatCursor({
    changes: changes.at(-1)?.place ?? cursor.changes,
    placements: placements.at(-1)?.place ?? cursor.placements,
    networks: networks.at(-1)?.place ?? cursor.networks,
    impressions: impressions.at(-1)?.place ?? cursor.impressions,
  })
  return {
    pub_id: pubId,
    since: formatTimestamp(since),
    next: pages.some(({ length }) => length === request.limitRows) ? end : null,
    cursor: end,
    changes: changes.map((row) => ({
      change_id: row.change_id,
      ...headOf(row),
      merch_id: row.merch_id,
      ...figuresOf(row),
    })),
    placements: placements.map((row) => ({ ...headOf(row), merch_id: row.merch_id })),
    networks: networks.map((row) => ({
      ...headOf(row),
      network: row.network,
      advertiser: row.advertiser,
      ...figuresOf(row),
    })),
    impressions: impressions.map((row) => ({
      ...headOf(row),
      impressions: Number(row.impressions),
    })),
  }
}

interface ChangedRow {
  readonly place: Place
  readonly changed_at: Date
  readonly cause: string
  readonly event_ids: string[]
  readonly day: string
  readonly article_id: number
}

interface Figures {
  readonly clicks: string
  readonly sales: string
  readonly revenue_micros: string
  readonly earnings_micros: string
}

function headOf({ changed_at, cause, event_ids, day, article_id }: ChangedRow) {
  return { changed_at: formatTimestamp(changed_at), cause, event_ids, event_date: day, article_id }
}

function figuresOf({ clicks, sales, revenue_micros, earnings_micros }: Figures) {
  return {
    clicks: Number(clicks),
    advertiser_attributed_sales: Number(sales),
    advertiser_attributed_revenue: formatExact(revenue_micros),
    pub_earnings: formatExact(earnings_micros),
  }
}

interface List {
  readonly name: ChangeList
  readonly rowsOf: (pubId: number, since: Date, place: Place) => Sql
  /** The sort columns by name, because an index can have their order but not an array's. */
  readonly order: Sql
}

const FIGURES: List = { name: 'changes', rowsOf: figureChanges, order: sql`change_id` }
const PLACEMENTS: List = {
  name: 'placements',
  rowsOf: placedRows,
  order: sql`changed_at, day, article_id, merch_id`,
}
const NETWORKS: List = { name: 'networks', rowsOf: networkChanges, order: sql`place` }
const IMPRESSIONS: List = {
  name: 'impressions',
  rowsOf: seenDays,
  order: sql`changed_at, article_id, day`,
}

/** The next rows of one list, after the cursor's position. */
function page<Row extends ChangedRow>(
  db: Db,
  { pubId, since, cursor, limitRows }: ChangesRequest,
  { name, rowsOf, order }: List,
): Promise<Row[]> {
  const place = cursor[name]
  return db.rows<Row>(sql`
    select * from (${rowsOf(pubId, since, place)}) as change
    where place > ${place}::bigint[]
    order by ${order} limit ${limitRows}`)
}

interface FigureChangeRow extends ChangedRow, Figures {
  readonly change_id: string
  readonly merch_id: number
}

/**
 * Ids grow with time, so one lookup skips earlier changes. It starts a day earlier, because a
 * server's clock may have been set back.
 */
function figureChanges(pubId: number, since: Date, [changeId]: Place): Sql {
  return sql`
    select array[change_id] as place, stats_change.*
    from stats_change
    where pub_id = ${pubId} and changed_at >= ${since} and change_id > ${changeId}
      and change_id > coalesce((
        select change_id from stats_change
        where pub_id = ${pubId} and changed_at < ${since}::timestamptz - interval '1 day'
        order by changed_at desc limit 1
      ), 0)`
}

interface PlacedRow extends ChangedRow {
  readonly merch_id: number
}

/** The events behind these rows are not stored: the log of views expires. */
function placedRows(pubId: number, since: Date, [atMicros]: Place): Sql {
  return sql`
    select array[${microsOf(sql`placed_at`)}, ${dayNumberOf(sql`day`)}, article_id, merch_id]
        as place,
      placed_at as changed_at, 'placement' as cause, array[]::bigint[] as event_ids, day,
      article_id, merch_id
    from stats_day
    where pub_id = ${pubId} and placed_at >= ${laterOf(since, atMicros)}`
}

interface NetworkChangeRow extends ChangedRow, Figures {
  readonly network: string
  readonly advertiser: string | null
}

/** An import replaces its partition. The change of a row is the new value minus the old one. */
function networkChanges(pubId: number, since: Date, [partitionNo]: Place): Sql {
  return sql`
    select array[partition_no, row_number() over (
        partition by partition_no order by article_id, advertiser nulls first)] as place,
      at as changed_at, 'import' as cause, array[event_id] as event_ids, report_date as day,
      article_id, network, advertiser, clicks, sales, revenue_micros, earnings_micros
    from network_partition as shown
    cross join lateral (
      select article_id, advertiser, sum(sign * clicks)::bigint as clicks,
        sum(sign * sales)::bigint as sales, sum(sign * revenue_micros)::bigint as revenue_micros,
        sum(sign * earnings_micros)::bigint as earnings_micros, count(distinct sign) as sides
      from (
        values (shown.import_id, 1), ((
          select import_id from network_partition as replaced
          where (network, account, report_date)
              = (shown.network, shown.account, shown.report_date)
            and partition_no < shown.partition_no
          order by partition_no desc limit 1
        ), -1)
      ) as import (import_id, sign)
      join network_row using (import_id)
      where pub_id = ${pubId}
      group by article_id, advertiser
    ) as difference
    where at >= ${since} and partition_no >= ${partitionNo}
      and (sides = 1 or (clicks, sales, revenue_micros, earnings_micros) <> (0, 0, 0, 0))`
}

interface SeenRow extends ChangedRow {
  readonly impressions: string
}

/**
 * Article-days by the time at which the report last changed: the last view, or the later creation
 * of the article. A new view moves an article-day to the end.
 */
function seenDays(pubId: number, since: Date, [atMicros]: Place): Sql {
  const from = laterOf(since, atMicros)
  const shown = (shownAt: Sql, isLast: Sql) => sql`
    select ${shownAt} as changed_at, day, article_id, impressions
    from page_day join article using (pub_id, url_key)
    where pub_id = ${pubId} and ${shownAt} >= ${from} and ${isLast} and impressions > 0
      and ${IS_ARTICLE_THERE}`
  return sql`
    select array[${microsOf(sql`changed_at`)}, article_id, ${dayNumberOf(sql`day`)}] as place,
      seen.*, 'impression' as cause, array[]::bigint[] as event_ids
    from (
      ${shown(sql`page_day.changed_at`, sql`changed_at >= datetime_created`)}
      union all
      ${shown(sql`datetime_created`, sql`datetime_created > changed_at`)}
    ) as seen`
}

/** Database times in microseconds since 1970; days likewise. */
function microsOf(time: Sql): Sql {
  return sql`(extract(epoch from ${time}) * 1000000)::bigint`
}

function dayNumberOf(day: Sql): Sql {
  return sql`(${day} - date '1970-01-01')`
}

function laterOf(since: Date, atMicros: string | undefined): Sql {
  return sql`
    greatest(${since}, timestamptz 'epoch' + ${atMicros}::bigint * interval '1 microsecond')`
}
