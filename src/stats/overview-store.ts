/**
 * The dashboard's overview in SQL: the figures of a range by day, in total, and by article and
 * merchant. Sums use micros; page impressions count once per article and day.
 */
import { formatCents } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { Overview, OverviewRow } from './dashboard-schema.ts'
import type { DayRange } from './day-range.ts'
import { earningsPerClick } from './earnings-per-click.ts'
import { dailyFigures, SUMS, seenOf } from './figures-store.ts'

/** The most that a page can show. The statistics API returns everything. */
const ROWS_MAX = 1_000

interface Sums {
  readonly impressions: string
  readonly clicks: string
  readonly sales: string
  readonly revenue_micros: string
  readonly earnings_micros: string
}

interface DaySums extends Sums {
  readonly day: string
  readonly unpaid_clicks: string
}

export async function readOverview(db: Db, range: DayRange): Promise<Overview> {
  // Both read one snapshot, so that rows and days include the same clicks.
  const [days, rows] = await db.transaction(
    async (tx) => [await sumByDay(tx, range), await sumByArticleAndMerchant(tx, range)] as const,
    { isSnapshot: true },
  )
  const total = addUp(days)
  return {
    pub_id: range.pubId,
    date_from: range.dayFrom,
    date_to: range.dayTo,
    totals: {
      ...toFigures(total),
      unpaid_clicks: Number(addColumn(days, 'unpaid_clicks')),
      earnings_per_click: earningsPerClick(total),
    },
    days: days.map((day) => ({
      event_date: day.day,
      ...toFigures(day),
      unpaid_clicks: Number(day.unpaid_clicks),
    })),
    rows: rows.slice(0, ROWS_MAX),
    are_rows_cut: rows.length > ROWS_MAX,
  }
}

/** Rows with only views or only figures have zeros for the rest. */
const OR_ZERO = sql`
  coalesce(impressions, 0) as impressions, coalesce(clicks, 0) as clicks,
  coalesce(sales, 0) as sales, coalesce(revenue_micros, 0) as revenue_micros,
  coalesce(earnings_micros, 0) as earnings_micros`

/** Every day of the range, including days without events. */
function sumByDay(db: Db, range: DayRange): Promise<DaySums[]> {
  const { pubId, dayFrom, dayTo } = range
  return db.rows(sql`
    with figure as (${dailyFigures(range)}), seen as (${seenOf(range)}),
    money as (
      select day, ${SUMS} from figure group by day
    ), views as (
      select day, sum(impressions)::bigint as impressions from seen group by day
    ), unpaid as (
      select day, sum(invalid_clicks)::bigint as unpaid_clicks from stats_day
      where pub_id = ${pubId} and day between ${dayFrom} and ${dayTo} group by day
    )
    select each.day::date as day, ${OR_ZERO}, coalesce(unpaid_clicks, 0) as unpaid_clicks
    from generate_series(${dayFrom}::date, ${dayTo}::date, '1 day') as each (day)
    left join money using (day) left join views using (day) left join unpaid using (day)
    order by each.day`)
}

async function sumByArticleAndMerchant(db: Db, range: DayRange): Promise<OverviewRow[]> {
  const rows = await db.rows<
    Sums & Pick<OverviewRow, 'article_id' | 'merch_id' | 'merchant_name'> & ArticleWords
  >(sql`
    with figure as (${dailyFigures(range)}), seen as (${seenOf(range)}),
    views as (
      select article_id, sum(impressions)::bigint as impressions from seen group by article_id
    ), money as (
      select article_id, merch_id, ${SUMS} from figure group by article_id, merch_id
    )
    select article_id, coalesce(merch_id, 0) as merch_id, ${OR_ZERO},
      merchant.name as merchant_name, article.name as article_name, article.url as article_url
    from money full join views using (article_id)
    left join merchant using (merch_id)
    left join article using (article_id)
    order by earnings_micros desc, clicks desc, article_id, merch_id
    limit ${ROWS_MAX + 1}`)
  return rows.map((row) => ({
    article_id: row.article_id,
    article_name: row.article_name ?? '',
    article_url: row.article_url ?? '',
    merch_id: row.merch_id,
    merchant_name: row.merchant_name,
    ...toFigures(row),
  }))
}

interface ArticleWords {
  readonly article_name: string | null
  readonly article_url: string | null
}

function toFigures(sums: Sums) {
  return {
    impressions: Number(sums.impressions),
    clicks: Number(sums.clicks),
    sales: Number(sums.sales),
    revenue: formatCents(sums.revenue_micros),
    earnings: formatCents(sums.earnings_micros),
  }
}

function addUp(days: readonly DaySums[]): Sums {
  return {
    impressions: addColumn(days, 'impressions'),
    clicks: addColumn(days, 'clicks'),
    sales: addColumn(days, 'sales'),
    revenue_micros: addColumn(days, 'revenue_micros'),
    earnings_micros: addColumn(days, 'earnings_micros'),
  }
}

function addColumn(days: readonly DaySums[], column: Exclude<keyof DaySums, 'day'>): string {
  return String(days.reduce((sum, day) => sum + BigInt(day[column]), 0n))
}
