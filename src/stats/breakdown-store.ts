/** Breakdowns of a publisher's figures in SQL: docs/spec/management.md#breakdown. */
import { IS_ARTICLE_THERE } from '../links/article-views-store.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { joinSql, type Sql, sql } from '../platform/postgres/sql.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import {
  type Breakdown,
  type Filters,
  hasPageViews,
  isOfRow,
  onlyProperty,
  type Period,
  type Property,
  type Spans,
  sourceOf,
  splitAtDays,
  splitIntoSpans,
} from './breakdown.ts'

/** Figures of a row; sums as decimal digits. `page_views` is null where there are none by row. */
export interface RowFigures {
  readonly clicks: string
  readonly invalid_clicks: string
  readonly orders: string
  readonly revenue_micros: string
  readonly earnings_micros: string
  readonly page_views: string | null
}

export interface BreakdownRow extends RowFigures {
  /** A local time such as `2026-03-02T14:00`, or a property's value as stored. */
  readonly key: string
  readonly before: RowFigures | null
}

/** A period with the length of time by which the compared one is earlier. */
export interface ComparedPeriod extends Period {
  readonly shift: string
}

export interface BreakdownPage {
  readonly period: Period
  readonly compared: ComparedPeriod | null
  readonly limitRows: number
  readonly skipRows: number
}

/** From midnight of the first to the end of the last day, in the time zone. */
export async function findPeriod(
  db: Db,
  { dayFrom, dayTo }: { readonly dayFrom: string; readonly dayTo: string },
  timeZone: string,
): Promise<Period> {
  const row = await db.row<Period>(sql`
    select ${dayFrom}::date::timestamp at time zone ${timeZone}::text as from,
      (${dayTo}::date + 1)::timestamp at time zone ${timeZone}::text as to`)
  return row as Period
}

/** Times in their order; other rows by what they earned, the most first. */
export function listBreakdown(
  db: Db,
  breakdown: Breakdown,
  { period, compared, limitRows, skipRows }: BreakdownPage,
): Promise<BreakdownRow[]> {
  const isByTime = breakdown.group === 'day' || breakdown.group === 'hour'
  const before =
    compared === null
      ? sql`select null::text as key, 0 as clicks, 0 as invalid_clicks, 0 as orders,
          0 as revenue_micros, 0 as earnings_micros, 0 as page_views where false`
      : totals(breakdown, compared, isByTime ? compared.shift : null)
  const rows = isByTime
    ? sql`select * from (${timesOf(breakdown, period)}) as moment left join now using (key)
        left join before using (key)`
    : sql`select * from now full join before using (key)`
  return readRows(
    db,
    breakdown,
    sql`
    with now as (
      select key, ${joinSql(COLUMNS, ', ')}, page_views
      from (${totals(breakdown, period, null)}) as total
    ), before as (
      select key, clicks as b_clicks, invalid_clicks as b_invalid_clicks, orders as b_orders,
        revenue_micros as b_revenue_micros, earnings_micros as b_earnings_micros,
        page_views as b_page_views
      from (${before}) as total
    )
    select * from (${rows}) as every_row
    order by ${isByTime ? sql`key` : MOST_FIRST}
    limit ${limitRows} offset ${skipRows}`,
    compared !== null,
  )
}

const COLUMNS = [
  sql`clicks`,
  sql`invalid_clicks`,
  sql`orders`,
  sql`revenue_micros`,
  sql`earnings_micros`,
]
const MOST_FIRST = sql`coalesce(earnings_micros, 0) desc, coalesce(clicks, 0) desc,
  coalesce(page_views, 0) desc, coalesce(b_earnings_micros, 0) desc, key`

async function readRows(
  db: Db,
  breakdown: Breakdown,
  query: Sql,
  isCompared: boolean,
): Promise<BreakdownRow[]> {
  const rows = await db.rows<Record<string, string | null>>(query)
  const hasViews = hasPageViews(breakdown)
  const figures = (row: Record<string, string | null>, prefix: string): RowFigures => ({
    clicks: row[`${prefix}clicks`] ?? '0',
    invalid_clicks: row[`${prefix}invalid_clicks`] ?? '0',
    orders: row[`${prefix}orders`] ?? '0',
    revenue_micros: row[`${prefix}revenue_micros`] ?? '0',
    earnings_micros: row[`${prefix}earnings_micros`] ?? '0',
    page_views: hasViews ? (row[`${prefix}page_views`] ?? '0') : null,
  })
  return rows.map((row) => ({
    key: row.key ?? '',
    ...figures(row, ''),
    before: isCompared ? figures(row, 'b_') : null,
  }))
}

/** Totals of a period by key; times are moved on by `shift`. Rows without figures are left out. */
function totals(breakdown: Breakdown, period: Period, shift: string | null): Sql {
  const views = hasPageViews(breakdown)
    ? sql`union all select key, 0, 0, 0, 0, 0, page_views
        from (${viewsOf(breakdown, period)}) as view`
    : sql``
  return sql`
    select ${shift === null ? sql`key` : shifted(shift, breakdown)} as key,
      sum(clicks)::bigint as clicks, sum(invalid_clicks)::bigint as invalid_clicks,
      sum(orders)::bigint as orders, sum(revenue_micros)::bigint as revenue_micros,
      sum(earnings_micros)::bigint as earnings_micros, sum(page_views)::bigint as page_views
    from (
      select key, clicks, invalid_clicks, orders, revenue_micros, earnings_micros, 0 as page_views
      from (${figuresOf(breakdown, period)}) as figure ${views}
    ) as report
    group by 1
    having sum(clicks) <> 0 or sum(invalid_clicks) <> 0 or sum(orders) <> 0
      or sum(revenue_micros) <> 0 or sum(earnings_micros) <> 0 or sum(page_views) <> 0`
}

const HOUR_FORM = 'YYYY-MM-DD"T"HH24:00'
const formOf = ({ group }: Breakdown) => (group === 'day' ? 'YYYY-MM-DD' : HOUR_FORM)

function shifted(shift: string, breakdown: Breakdown): Sql {
  return sql`to_char(key::timestamp + ${shift}::interval, ${formOf(breakdown)})`
}

/** Every day or hour of a period. */
function timesOf(breakdown: Breakdown, { from, to }: Period): Sql {
  const { group, timeZone } = breakdown
  return sql`
    select to_char(time, ${formOf(breakdown)}) as key
    from generate_series(date_trunc(${group}, ${from}::timestamptz at time zone ${timeZone}::text),
      (${to}::timestamptz at time zone ${timeZone}::text) - interval '1 second',
      ${`1 ${group}`}::interval) as time`
}

/** The local day or hour of a column, as text. Grouped first, because writing a time is slow. */
function timeKey(column: Sql, { group, timeZone }: Breakdown): Sql {
  return sql`date_trunc(${group}, ${column} at time zone ${timeZone}::text)`
}

function byTime(breakdown: Breakdown, column: Sql, rows: Sql): Sql {
  return sql`
    select to_char(time, ${formOf(breakdown)}) as key, ${joinSql(COLUMNS, ', ')}
    from (
      select ${timeKey(column, breakdown)} as time, sum(clicks)::bigint as clicks,
        sum(invalid_clicks)::bigint as invalid_clicks, sum(orders)::bigint as orders,
        sum(revenue_micros)::bigint as revenue_micros,
        sum(earnings_micros)::bigint as earnings_micros
      from ${rows} group by 1
    ) as grouped`
}

function figuresOf(breakdown: Breakdown, period: Period): Sql {
  const { pubId } = breakdown
  const { from, to } = period
  const source = sourceOf(breakdown)
  if (source === 'slot') {
    const rows = sql`figure_slot where pub_id = ${pubId} and slot >= ${from} and slot < ${to}`
    return byTime(breakdown, sql`slot`, rows)
  }
  if (source === 'all') return changesOf(breakdown, period)
  const { days, rests } = splitAtDays(period)
  const parts = rests.map((rest) => changesOf(breakdown, rest))
  if (days !== null && source === 'spans') parts.push(spansOf(breakdown, days))
  else if (days !== null)
    parts.push(source === 'rows' ? rowsOf(breakdown, days) : daysOf(breakdown, days))
  return joinSql(parts, ' union all ')
}

/** Whole days by one property: totals of spans, and of days at both ends. */
function spansOf(breakdown: Breakdown, days: Period): Sql {
  const property = onlyProperty(breakdown)
  const parts = splitIntoSpans(days).map((spans) => {
    if (spans.days === 1) {
      return isOfRow(property) ? rowsOf(breakdown, spans) : daysOf(breakdown, spans)
    }
    return sql`
      select value as key, ${joinSql(COLUMNS, ', ')} from figure_span
      where property = ${property} and ${isInSpans(breakdown, spans)} and ${hasValue(breakdown)}`
  })
  return joinSql(parts, ' union all ')
}

const isInSpans = ({ pubId }: Breakdown, { days, from, to }: Spans): Sql => sql`
  pub_id = ${pubId} and width = ${days} and first_day >= ${utcDay(from)}
    and first_day < ${utcDay(to)}`

/** Whole days by article and merchant. Grouped by number, which is faster than by text. */
function rowsOf(breakdown: Breakdown, days: Period): Sql {
  const { group, filters } = breakdown
  const column = group === 'day' ? sql`day` : columnOf(onlyGroup(breakdown))
  return sql`
    select key::text as key, ${joinSql(COLUMNS, ', ')} from (
      select ${column} as key, sum(clicks)::bigint as clicks,
        sum(invalid_clicks)::bigint as invalid_clicks, sum(sales)::bigint as orders,
        sum(revenue_micros)::bigint as revenue_micros,
        sum(earnings_micros)::bigint as earnings_micros
      from stats_day where ${isIn(breakdown, days)} and ${matches(filters)} group by 1
    ) as grouped`
}

/** Whole days by one other property. */
function daysOf(breakdown: Breakdown, days: Period): Sql {
  const key = breakdown.group === 'day' ? sql`day::text` : sql`value`
  return sql`
    select ${key} as key, ${joinSql(COLUMNS, ', ')} from figure_day
    where ${isIn(breakdown, days)} and property = ${onlyProperty(breakdown)}
      and ${hasValue(breakdown)}`
}

const isIn = ({ pubId }: Breakdown, { from, to }: Period): Sql =>
  sql`pub_id = ${pubId} and day >= ${utcDay(from)} and day < ${utcDay(to)}`

/** The property that rows are grouped by. */
function onlyGroup({ group }: Breakdown): Property {
  if (group === 'day' || group === 'hour') throw new Error('rows are grouped by time')
  return group
}

function hasValue(breakdown: Breakdown): Sql {
  const value = breakdown.filters[onlyProperty(breakdown)]
  return value === undefined ? sql`true` : sql`value = ${value}`
}

/** Change by change: any property, and any time. */
function changesOf(breakdown: Breakdown, { from, to }: Period): Sql {
  const { pubId, group, filters } = breakdown
  const rows = sql`click_figure where pub_id = ${pubId} and at >= ${from} and at < ${to}
    and ${matches(filters)}`
  if (group === 'day' || group === 'hour') return byTime(breakdown, sql`at`, rows)
  return sql`
    select coalesce(key::text, '') as key, ${joinSql(COLUMNS, ', ')}
    from (
      select ${columnOf(group)} as key, sum(clicks)::bigint as clicks,
        sum(invalid_clicks)::bigint as invalid_clicks, sum(orders)::bigint as orders,
        sum(revenue_micros)::bigint as revenue_micros,
        sum(earnings_micros)::bigint as earnings_micros
      from ${rows} group by 1
    ) as grouped`
}

function columnOf(property: Property): Sql {
  switch (property) {
    case 'article':
      return sql`article_id`
    case 'link':
      return sql`auction_id`
    case 'merchant':
      return sql`merch_id`
    case 'product':
      return sql`product_id`
    case 'device':
      return sql`device`
    case 'country':
      return sql`country`
    case 'u1':
      return sql`u1`
  }
}

function matches(filters: Filters): Sql {
  const conditions = Object.entries(filters).map(([property, value]) => {
    const column = columnOf(property as Property)
    if (property === 'country' || property === 'u1') return sql`${column} = ${value}`
    return sql`${column} = ${value}::bigint`
  })
  return conditions.length === 0 ? sql`true` : joinSql(conditions, ' and ')
}

/** Page views of articles. */
function viewsOf(breakdown: Breakdown, period: Period): Sql {
  const { pubId, group, filters } = breakdown
  const { from, to } = period
  const { article } = filters
  const isWanted = article === undefined ? sql`true` : sql`article_id = ${article}::bigint`
  if (group !== 'article') {
    const rows =
      article === undefined
        ? sql`select slot, impressions from view_slot
            where pub_id = ${pubId} and slot >= ${from} and slot < ${to}`
        : sql`select slot, impressions
            from article join page_slot using (pub_id, url_key)
            where pub_id = ${pubId} and ${isWanted} and slot >= ${from} and slot < ${to}
              and slot >= date_trunc('day', article.datetime_created, 'UTC')`
    return sql`
      select to_char(time, ${formOf(breakdown)}) as key, page_views from (
        select ${timeKey(sql`slot`, breakdown)} as time, sum(impressions) as page_views
        from (${rows}) as viewed group by 1
      ) as grouped`
  }
  const { days, rests } = splitAtDays(period)
  const parts = rests.map((rest) => viewsOfRest(pubId, rest, isWanted))
  if (days !== null) parts.push(viewsOfDays(breakdown, days, isWanted))
  return joinSql(parts, ' union all ')
}

/** Whole days. Spans have views from before an article was created, so new articles use days. */
function viewsOfDays(breakdown: Breakdown, days: Period, isWanted: Sql): Sql {
  const { pubId } = breakdown
  const spans = splitIntoSpans(days).map((one) =>
    one.days === 1
      ? sql`select url_key, impressions from page_day where ${isIn(breakdown, one)}`
      : sql`select url_key, impressions from page_span where ${isInSpans(breakdown, one)}`,
  )
  return sql`
    select article_id::text as key, impressions as page_views
    from article join (${joinSql(spans, ' union all ')}) as viewed using (url_key)
    where pub_id = ${pubId} and ${isWanted} and datetime_created < ${days.from}
    union all
    select article_id::text as key, impressions as page_views
    from article join page_day using (pub_id, url_key)
    where pub_id = ${pubId} and ${isWanted} and datetime_created >= ${days.from}
      and day >= ${utcDay(days.from)} and day < ${utcDay(days.to)} and ${IS_ARTICLE_THERE}`
}

/** Part of a UTC day, or of two. */
function viewsOfRest(pubId: number, { from, to }: Period, isWanted: Sql): Sql {
  return sql`
    select article_id::text as key, impressions as page_views
    from article join page_slot using (pub_id, url_key)
    where pub_id = ${pubId} and ${isWanted} and slot >= ${from} and slot < ${to}
      and slot >= date_trunc('day', article.datetime_created, 'UTC')`
}

/** What a row is called, by key. */
export interface RowName {
  readonly key: string
  readonly name: string | null
  readonly url: string | null
}

/** The names of articles, links, merchants and products; other keys have none. */
export async function listNames(
  db: Db,
  property: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, RowName>> {
  const query = namesQuery(
    property,
    keys.filter((key) => key !== ''),
  )
  const rows = query === null ? [] : await db.rows<RowName>(query)
  return new Map(rows.map((row) => [row.key, row]))
}

function namesQuery(property: string, keys: readonly string[]): Sql | null {
  switch (property) {
    case 'article':
      return sql`select article_id::text as key, name, url from article
        where article_id = any(${keys}::int[])`
    case 'link':
      return sql`select auction_id::text as key, coalesce(l.url, a.url) as name,
          coalesce(l.url, a.url) as url
        from smart_link l join article a using (article_id)
        where auction_id = any(${keys}::bigint[])`
    case 'merchant':
      return sql`select merch_id::text as key, name, null as url from merchant
        where merch_id = any(${keys}::int[])`
    case 'product':
      return sql`select wanted.key::text as key, title as name, null as url
        from unnest(${keys}::bigint[]) as wanted (key) cross join lateral (
          select title from clicked_offer where product_id = wanted.key
          order by from_generation desc limit 1
        ) as offer`
    default:
      return null
  }
}
