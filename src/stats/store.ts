/**
 * The statistics of section 4.4 in SQL: one row per article, merchant and day.
 *
 * Page impressions belong to the article and day. They are kept there and joined to every merchant
 * row when it is written out; where no merchant has a row, they have one of their own.
 */
import { EVENT_TYPE, viewLane } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { SESSION_DAYS } from '../events/view-totals-store.ts'
import { formatCents, formatExact, micros } from '../platform/money.ts'
import type { Db } from '../platform/postgres.ts'
import { identifier, joinSql, type Sql, sql } from '../platform/sql.ts'
import { formatTimestamp } from '../platform/timestamp.ts'
import type { OrderColumn, StatsChanges, StatsRow } from './schema.ts'
import type { StatsRequest } from './stats-query.ts'

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

/** Columns of a figure that an article-day with impressions alone has a zero in. */
const MONEY_COLUMNS: ReadonlySet<OrderColumn> = new Set([
  'advertiser_attributed_sales',
  'pub_earnings',
  'advertiser_attributed_revenue',
  'clicks',
])

/** The rows of a request, in its order. */
export async function listStats(db: Db, request: StatsRequest): Promise<StatsRow[]> {
  const columns = await db.row<Record<ColumnName, string | null>>(asColumns(wantedRows(request)))
  const list = (name: ColumnName) => columns?.[name]?.slice('{'.length, -'}'.length) ?? ''
  const read = (name: ColumnName) => JSON.parse(`[${list(name)}]`) as number[]
  const days = list('day') === '' ? [] : list('day').split(',')
  const [articleIds, merchIds] = [read('article_id'), read('merch_id')]
  const [clicks, sales, impressions] = [read('clicks'), read('sales'), read('impressions')]
  const [revenue, earnings] = [read('revenue_micros'), read('earnings_micros')]
  const [articles, merchants] = [await findArticles(db, articleIds), await findNames(db, merchIds)]
  return days.map((day, row) => {
    const article = articles.get(articleIds[row] ?? 0)
    return {
      advertiser_name: merchants.get(merchIds[row] ?? 0) ?? null,
      article_name: article?.name ?? '',
      advertiser_attributed_sales: sales[row] ?? 0,
      pub_earnings: formatCents(micros(earnings[row] ?? 0)),
      article_id: articleIds[row] ?? 0,
      article_url: article?.url ?? '',
      merch_id: merchIds[row] ?? 0,
      impressions: impressions[row] ?? 0,
      advertiser_attributed_revenue: formatCents(micros(revenue[row] ?? 0)),
      pub_id: request.pubId,
      event_date: day,
      clicks: clicks[row] ?? 0,
    }
  })
}

/**
 * Rows in order, cut at the limit. Figures are cut before impressions are joined, because there
 * are many more of them than rows in an answer; only an order by impressions needs all of both.
 */
function wantedRows(request: StatsRequest): Sql {
  const { orderBy, isAscending, limitRows, asOf } = request
  const figures = asOf === null ? figuresNow(request) : figuresThen(request, asOf)
  const seen = asOf === null ? seenNow(request) : seenThen(request, asOf)
  const direction = isAscending ? sql`asc` : sql`desc`
  const order = sql`
    order by ${ORDER_BY[orderBy]} ${direction}, day desc, article_id, merch_id limit ${limitRows}`
  const isCutEarly = orderBy !== 'impressions'
  const imported = request.isOutOfNetwork ? sql`union all ${networkFigures(request)}` : sql``
  // Where enough figures rank above zero, article-days that have none need no look.
  const canRank =
    isCutEarly && !isAscending && MONEY_COLUMNS.has(orderBy)
      ? sql`(select count(*) from best where ${ORDER_BY[orderBy]} > 0) < ${limitRows}`
      : sql`true`
  return sql`
    with figure as not materialized (${figures}), seen as (${seen}),
    best as materialized (select * from figure ${isCutEarly ? order : sql``})
    select every_row.*, coalesce(impressions, 0) as impressions
    from (
      select * from best
      union all
      select day, article_id, 0, 0, 0, 0, 0 from seen
      where ${canRank} and not exists (
        select from figure
        where figure.day = seen.day and figure.article_id = seen.article_id
      )
      ${imported}
    ) as every_row left join seen using (day, article_id)
    ${order}`
}

const COLUMN_NAMES = [
  'day',
  'article_id',
  'merch_id',
  'clicks',
  'sales',
  'revenue_micros',
  'earnings_micros',
  'impressions',
] as const
type ColumnName = (typeof COLUMN_NAMES)[number]

/**
 * The same rows as one row of lists: ten thousand rows of eight small fields cost the driver and
 * this process more than the query costs the database.
 */
function asColumns(rows: Sql): Sql {
  const lists = COLUMN_NAMES.map((name) => {
    const column = identifier(name)
    return sql`array_agg(${column})::text as ${column}`
  })
  return sql`select ${joinSql(lists, ', ')} from (${rows}) as wanted`
}

async function findArticles(
  db: Db,
  ids: readonly number[],
): Promise<Map<number, { readonly name: string; readonly url: string }>> {
  const rows = await db.rows<{ article_id: number; name: string; url: string }>(sql`
    select article_id, name, url from article where article_id = any(${[...new Set(ids)]}::int[])`)
  return new Map(rows.map(({ article_id, ...article }) => [article_id, article]))
}

async function findNames(db: Db, ids: readonly number[]): Promise<Map<number, string>> {
  const rows = await db.rows<{ merch_id: number; name: string }>(sql`
    select merch_id, name from merchant where merch_id = any(${[...new Set(ids)]}::int[])`)
  return new Map(rows.map(({ merch_id, name }) => [merch_id, name]))
}

/** Days of a publisher, both inclusive. */
export type DayRange = Pick<StatsRequest, 'pubId' | 'dayFrom' | 'dayTo'>

/** A row that robots alone made is none (decisions 4.4 say what makes one). */
export function figuresNow({ pubId, dayFrom, dayTo }: DayRange): Sql {
  return sql`
    select day, article_id, merch_id, clicks, sales, revenue_micros, earnings_micros
    from stats_day
    where pub_id = ${pubId} and day between ${dayFrom} and ${dayTo} and ${IS_ROW}`
}

const IS_ROW = sql`
  (invalid_clicks = unfunded_clicks or (clicks, placements, sales, revenue_micros,
    earnings_micros, unfunded_clicks) <> (0, 0, 0, 0, 0, 0))`

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

/**
 * What the report said at a time: the sum of the changes until then. What makes a row without
 * changing a figure has no change row, and is counted again: clicks that nobody paid, placements.
 */
function figuresThen({ pubId, dayFrom, dayTo }: StatsRequest, asOf: Date): Sql {
  return sql`
    select day, article_id, merch_id, clicks, sales, revenue_micros, earnings_micros
    from (
      select day, article_id, merch_id, sum(clicks)::bigint as clicks, sum(sales)::bigint as sales,
        sum(revenue_micros)::bigint as revenue_micros,
        sum(earnings_micros)::bigint as earnings_micros,
        sum(invalid) as invalid_clicks, sum(unfunded) as unfunded_clicks, sum(seen) as placements
      from (
        select day, article_id, merch_id, clicks, sales, revenue_micros, earnings_micros,
          case cause when 'reversal' then -clicks else 0 end as invalid, 0 as unfunded, 0 as seen
        from stats_change
        where pub_id = ${pubId} and changed_at <= ${asOf} and day between ${dayFrom} and ${dayTo}
        union all
        select day, article_id, merch_id, 0, 0, 0, 0, 1, (reason = ${REASON.unfunded})::int, 0
        from click
        where pub_id = ${pubId} and at <= ${asOf} and day between ${dayFrom} and ${dayTo}
          and reason <> ${REASON.ok}
        union all
        select day, coalesce(article_id, 0), merch_id, 0, 0, 0, 0, 0, 0, 1
        from event left join (select auction_id, article_id from smart_link) as link
          using (auction_id)
        where lane = ${viewLane(pubId)} and type = ${EVENT_TYPE.placement} and pub_id = ${pubId}
          and day between ${dayFrom} and ${dayTo} and at <= ${asOf} and reason = ${REASON.ok}
          and merch_id <> 0 and day > ${totalledTo(pubId)}
        union all
        select day, coalesce(article_id, 0), merch_id, 0, 0, 0, 0, 0, 0, events
        from (${totals({ pubId, dayFrom, dayTo }, asOf)}) as total
        left join (select auction_id, article_id from smart_link) as link using (auction_id)
        where type = ${EVENT_TYPE.placement} and reason = ${REASON.ok} and merch_id <> 0
      ) as told
      group by day, article_id, merch_id
    ) as summed
    where ${IS_ROW}`
}

/**
 * Views have no change rows: they are counted again from the log. A session's first event counts,
 * which for one that runs over midnight lies on the day before the range.
 */
function seenThen({ pubId, dayFrom, dayTo }: StatsRequest, asOf: Date): Sql {
  return sql`
    select day, article_id, sum(counted)::bigint as impressions
    from (
      select day, url_key, reason, 1 as counted
      from (
        select distinct on (session_key) day, url_key, reason
        from event
        where lane = ${viewLane(pubId)} and type = ${EVENT_TYPE.pageImpression}
          and pub_id = ${pubId} and day between ${dayFrom}::date - 1 and ${dayTo} and at <= ${asOf}
        order by session_key, seq
      ) as first_view
      where day >= ${dayFrom} and day > ${totalledTo(pubId)}
      union all
      select day, url_key, reason, counted
      from (${totals({ pubId, dayFrom, dayTo }, asOf)}) as total
      where type = ${EVENT_TYPE.pageImpression} and counted > 0
    ) as seen
    join article on article.pub_id = ${pubId} and article.url_key = seen.url_key
    where reason = 0 and ${IS_ARTICLE_THERE}
    group by day, article_id`
}

/**
 * The last day of a publisher whose views are counted by totals: as long after the last that was
 * dropped as its sessions may go on.
 */
function totalledTo(pubId: number): Sql {
  return sql`(
    select coalesce(max(day) + ${SESSION_DAYS}::int, '-infinity'::date) from view_day
    where lane = ${viewLane(pubId)} and state <> 'written')`
}

/** Totals know no time of day: they count from the end of their own on. */
function totals({ pubId, dayFrom, dayTo }: DayRange, asOf: Date): Sql {
  return sql`
    select * from view_total
    where lane = ${viewLane(pubId)} and pub_id = ${pubId} and day between ${dayFrom} and ${dayTo}
      and day <= ${totalledTo(pubId)} and day < (${asOf}::timestamptz at time zone 'UTC')::date`
}

function networkFigures({ pubId, dayFrom, dayTo, asOf }: StatsRequest): Sql {
  const until = asOf === null ? sql`true` : sql`network_partition.at <= ${asOf}`
  return sql`
    select report_date as day, article_id, 0 as merch_id, sum(clicks)::bigint as clicks,
      sum(sales)::bigint as sales, sum(revenue_micros)::bigint as revenue_micros,
      sum(earnings_micros)::bigint as earnings_micros
    from network_row join network_partition using (import_id, report_date)
    where pub_id = ${pubId} and report_date between ${dayFrom} and ${dayTo} and ${until}
    group by report_date, article_id, network, advertiser`
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
