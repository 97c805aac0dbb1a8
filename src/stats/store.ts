/**
 * The statistics of section 4.4 in SQL: one row per article, merchant and day.
 *
 * Page impressions belong to the article and day. They are kept there and joined to every merchant
 * row when it is written out; where no merchant has a row, they have one of their own.
 */
import { EVENT_TYPE, viewLane } from '../events/event.ts'
import { formatCents, formatExact } from '../platform/money.ts'
import type { Db } from '../platform/postgres.ts'
import { type Sql, sql } from '../platform/sql.ts'
import { formatTimestamp } from '../platform/timestamp.ts'
import type { OrderColumn, StatsChanges, StatsRow } from './schema.ts'
import type { StatsRequest } from './stats-query.ts'

interface FigureRow {
  readonly day: string
  readonly article_id: number
  readonly merch_id: number
  readonly clicks: string
  readonly sales: string
  readonly revenue_micros: string
  readonly earnings_micros: string
  readonly impressions: string
  readonly merchant_name: string | null
  readonly article_name: string | null
  readonly article_url: string | null
}

const ORDER_BY: Readonly<Record<OrderColumn, Sql>> = {
  article_id: sql`article_id`,
  advertiser_attributed_sales: sql`sales`,
  pub_earnings: sql`earnings_micros`,
  merch_id: sql`merch_id`,
  impressions: sql`impressions`,
  advertiser_attributed_revenue: sql`revenue_micros`,
  event_date: sql`day`,
  clicks: sql`clicks`,
}

/** The rows of a request, in its order. */
export async function listStats(db: Db, request: StatsRequest): Promise<StatsRow[]> {
  const { pubId, orderBy, isAscending, limitRows } = request
  const [figures, seen] =
    request.asOf === null
      ? [figuresNow(request), seenNow(request)]
      : [figuresThen(request, request.asOf), seenThen(request, request.asOf)]
  const direction = isAscending ? sql`asc` : sql`desc`
  const imported = request.isOutOfNetwork ? networkFigures(request) : sql`select * from nothing`
  const rows = await db.rows<FigureRow>(sql`
    with figure as (${figures}), seen as (${seen}),
    own as (
      select day, article_id, coalesce(merch_id, 0) as merch_id, coalesce(clicks, 0) as clicks,
        coalesce(sales, 0) as sales, coalesce(revenue_micros, 0) as revenue_micros,
        coalesce(earnings_micros, 0) as earnings_micros, coalesce(impressions, 0) as impressions
      from figure full join seen using (day, article_id)
    ), nothing as (
      select * from own where false
    ), wanted as (
      select * from (select * from own union all ${imported}) as every_row
      order by ${ORDER_BY[orderBy]} ${direction}, day desc, article_id, merch_id
      limit ${limitRows}
    )
    select wanted.*, merchant.name as merchant_name, article.name as article_name,
      article.url as article_url
    from wanted
    left join merchant using (merch_id)
    left join article using (article_id)
    order by ${ORDER_BY[orderBy]} ${direction}, day desc, article_id, merch_id`)
  return rows.map((row) => toStatsRow(pubId, row))
}

function toStatsRow(pubId: number, row: FigureRow): StatsRow {
  return {
    advertiser_name: row.merchant_name,
    article_name: row.article_name ?? '',
    advertiser_attributed_sales: Number(row.sales),
    pub_earnings: formatCents(row.earnings_micros),
    article_id: row.article_id,
    article_url: row.article_url ?? '',
    merch_id: row.merch_id,
    impressions: Number(row.impressions),
    advertiser_attributed_revenue: formatCents(row.revenue_micros),
    pub_id: pubId,
    event_date: row.day,
    clicks: Number(row.clicks),
  }
}

/** Days of a publisher, both inclusive. */
export type DayRange = Pick<StatsRequest, 'pubId' | 'dayFrom' | 'dayTo'>

/** A row that robots alone made is none (decisions 4.4 say what makes one). */
export function figuresNow({ pubId, dayFrom, dayTo }: DayRange): Sql {
  return sql`
    select day, article_id, merch_id, clicks, sales, revenue_micros, earnings_micros
    from stats_day
    where pub_id = ${pubId} and day between ${dayFrom} and ${dayTo}
      and (invalid_clicks = unfunded_clicks or (clicks, placements, sales, revenue_micros,
        earnings_micros, unfunded_clicks) <> (0, 0, 0, 0, 0, 0))`
}

/** Page impressions of the publisher's articles, by article and day. */
export function seenNow({ pubId, dayFrom, dayTo }: DayRange): Sql {
  return sql`
    select day, article_id, impressions
    from page_day join article using (pub_id, url_key)
    where pub_id = ${pubId} and day between ${dayFrom} and ${dayTo} and impressions > 0
      and ${IS_ARTICLE_THERE}`
}

/** Impressions of an address count from the day on which its article was created. */
const IS_ARTICLE_THERE = sql`day >= (article.datetime_created at time zone 'UTC')::date`

/** What the report said at a time: the sum of the changes until then. */
function figuresThen({ pubId, dayFrom, dayTo }: StatsRequest, asOf: Date): Sql {
  return sql`
    select day, article_id, merch_id, sum(clicks)::bigint as clicks, sum(sales)::bigint as sales,
      sum(revenue_micros)::bigint as revenue_micros, sum(earnings_micros)::bigint as earnings_micros
    from stats_change
    where pub_id = ${pubId} and changed_at <= ${asOf} and day between ${dayFrom} and ${dayTo}
    group by day, article_id, merch_id`
}

/**
 * Views have no change rows: they are counted again from the log. A session's first event counts,
 * which for one that runs over midnight lies on the day before the range.
 */
function seenThen({ pubId, dayFrom, dayTo }: StatsRequest, asOf: Date): Sql {
  return sql`
    select day, article_id, count(*) as impressions
    from (
      select distinct on (session_key) day, url_key, reason
      from event
      where lane = ${viewLane(pubId)} and type = ${EVENT_TYPE.pageImpression} and pub_id = ${pubId}
        and day between ${dayFrom}::date - 1 and ${dayTo} and at <= ${asOf}
      order by session_key, seq
    ) as first_view
    join article on article.pub_id = ${pubId} and article.url_key = first_view.url_key
    where reason = 0 and day >= ${dayFrom} and ${IS_ARTICLE_THERE}
    group by day, article_id`
}

function networkFigures({ pubId, dayFrom, dayTo, asOf }: StatsRequest): Sql {
  const until = asOf === null ? sql`true` : sql`network_partition.at <= ${asOf}`
  return sql`
    select network.*, coalesce(seen.impressions, 0) from (
      select report_date as day, article_id, 0 as merch_id, sum(clicks)::bigint as clicks,
        sum(sales)::bigint as sales, sum(revenue_micros)::bigint as revenue_micros,
        sum(earnings_micros)::bigint as earnings_micros
      from network_row join network_partition using (import_id, report_date)
      where pub_id = ${pubId} and report_date between ${dayFrom} and ${dayTo} and ${until}
      group by report_date, article_id, network, advertiser
    ) as network
    left join seen using (day, article_id)`
}

export interface ChangesRequest {
  readonly pubId: number
  readonly since: Date
  readonly cursor: string // the last change seen; '0' at the start
  readonly limitRows: number
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

/** Every row that changed since a time, and why, in the order of the changes. */
export async function listChanges(db: Db, request: ChangesRequest): Promise<StatsChanges> {
  const { pubId, since, cursor, limitRows } = request
  const rows = await db.rows<ChangeRow>(sql`
    select change_id, changed_at, cause, event_ids, day, article_id, merch_id, clicks, sales,
      revenue_micros, earnings_micros
    from stats_change
    where pub_id = ${pubId} and changed_at >= ${since} and change_id > ${cursor}
    order by change_id limit ${limitRows}`)
  return {
    pub_id: pubId,
    since: formatTimestamp(since),
    next: rows.length === limitRows ? (rows.at(-1)?.change_id ?? null) : null,
    changes: rows.map(({ day, sales, revenue_micros, earnings_micros, ...row }) => ({
      ...row,
      changed_at: formatTimestamp(row.changed_at),
      event_date: day,
      clicks: Number(row.clicks),
      advertiser_attributed_sales: Number(sales),
      advertiser_attributed_revenue: formatExact(revenue_micros),
      pub_earnings: formatExact(earnings_micros),
    })),
    // Figures as they are now: once, with the first page.
    impressions: cursor === '0' ? await listSeenSince(db, request) : [],
  }
}

async function listSeenSince(
  db: Db,
  { pubId, since, limitRows }: ChangesRequest,
): Promise<StatsChanges['impressions']> {
  const rows = await db.rows<{
    changed_at: Date
    day: string
    article_id: number
    impressions: string
  }>(sql`
    select changed_at, day, article_id, impressions
    from page_day join article using (pub_id, url_key)
    where pub_id = ${pubId} and changed_at >= ${since}
    order by changed_at, day, article_id limit ${limitRows}`)
  return rows.map(({ day, changed_at, impressions, ...row }) => ({
    ...row,
    changed_at: formatTimestamp(changed_at),
    event_date: day,
    impressions: Number(impressions),
  }))
}
