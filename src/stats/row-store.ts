/**
 * The rows of the statistics API: one per article, merchant and day, sorted and limited.
 *
 * Page impressions belong to the article and day. They are stored there and joined to every
 * merchant row. Without a merchant row they get their own.
 */
import { listMerchantNames } from '../catalog/merchant-store.ts'
import { formatCents, MICROS_PER_CENT, roundToCents } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { identifier, joinSql, type Sql, sql } from '../platform/postgres/sql.ts'
import { dailyFigures, networkFigures, seenOf } from './figures-store.ts'
import type { OrderColumn, StatsRow } from './schema.ts'
import type { StatsRequest } from './stats-query.ts'

/** One row's figures, as read by `readRows`. */
interface RankedRow {
  readonly day: string
  readonly article_id: number
  readonly merch_id: number
  readonly clicks: number
  readonly sales: number
  readonly revenue_micros: Sum
  readonly earnings_micros: Sum
  readonly impressions: number
}
type ColumnName = keyof RankedRow
/** In micros. Each amount is a safe integer, but a sum may not be. */
type Sum = number | bigint

const ORDER_BY: Readonly<Record<OrderColumn, ColumnName>> = {
  article_id: 'article_id',
  advertiser_attributed_sales: 'sales',
  pub_earnings: 'earnings_micros',
  merch_id: 'merch_id',
  impressions: 'impressions',
  advertiser_attributed_revenue: 'revenue_micros',
  event_date: 'day',
  clicks: 'clicks',
}

/**
 * The columns that are zero for an article-day with impressions only. They also distinguish rows of
 * other networks, which may share day, article and merchant.
 */
const FIGURES = ['clicks', 'sales', 'revenue_micros', 'earnings_micros'] as const

/** The rows of a request, in its order. */
export async function listStats(db: Db, request: StatsRequest): Promise<StatsRow[]> {
  // One snapshot for both statements. Otherwise an article-day might get figures in between.
  return db.transaction(
    async (tx) => {
      const rows = await rankedRows(tx, request)
      const articles = await findArticles(tx, new Set(rows.map(({ article_id: id }) => id)))
      const merchants = await listMerchantNames(tx, new Set(rows.map(({ merch_id: id }) => id)))
      return rows.map((row) => {
        const article = articles.get(row.article_id)
        return {
          advertiser_name: merchants.get(row.merch_id) ?? null,
          article_name: article?.name ?? '',
          advertiser_attributed_sales: row.sales,
          pub_earnings: formatCents(row.earnings_micros),
          article_id: row.article_id,
          article_url: article?.url ?? '',
          merch_id: row.merch_id,
          impressions: row.impressions,
          advertiser_attributed_revenue: formatCents(row.revenue_micros),
          pub_id: request.pubId,
          event_date: row.day,
          clicks: row.clicks,
        }
      })
    },
    { isSnapshot: true },
  )
}

/** Sorted rows, cut at the limit. */
async function rankedRows(db: Db, request: StatsRequest): Promise<RankedRow[]> {
  const figures = await readRows(db, figureRows(request))
  const unsold = canUnsoldRank(figures, request)
    ? await readRows(db, cut(unsoldRows(request), request))
    : []
  // A join does not guarantee the order. If it kept the order of the figures, sorting is cheap.
  return [...figures, ...unsold].sort(rank(request)).slice(0, request.limitRows)
}

/** False if enough figures rank above zero: then article-days without figures need no lookup. */
function canUnsoldRank(figures: readonly RankedRow[], request: StatsRequest): boolean {
  const { orderBy, isAscending, limitRows } = request
  const column = ORDER_BY[orderBy]
  if (isAscending || !FIGURES.some((name) => name === column)) return true
  return figures.filter((row) => Number(shownValue(row, column)) > 0).length < limitRows
}

/**
 * Figures are limited before impressions are joined, because there are many more of them than rows
 * in a response. Only an order by impressions needs all of both.
 */
function figureRows(request: StatsRequest): Sql {
  const imported = request.isOutOfNetwork ? sql`union all ${networkFigures(request)}` : sql``
  const all = sql`${dailyFigures(request)} ${imported}`
  return request.orderBy === 'impressions'
    ? cut(placed(all, request), request)
    : placed(cut(all, request), request)
}

function placed(figures: Sql, request: StatsRequest): Sql {
  return sql`
    select figure.*, coalesce(impressions, 0) as impressions
    from (${figures}) as figure left join (${seenOf(request)}) as seen using (day, article_id)`
}

/** Article-days with views but without figures of any merchant. */
function unsoldRows(request: StatsRequest): Sql {
  return sql`
    select day, article_id, 0 as merch_id, 0 as clicks, 0 as sales, 0 as revenue_micros,
      0 as earnings_micros, impressions
    from (${seenOf(request)}) as seen
    where not exists (
      select from (${dailyFigures(request)}) as figure
      where figure.day = seen.day and figure.article_id = seen.article_id
    )`
}

/** The best rows in the request's order; `rank` defines the same order for rows in memory. */
function cut(rows: Sql, { orderBy, isAscending, limitRows }: StatsRequest): Sql {
  const direction = isAscending ? sql`asc` : sql`desc`
  const figures = FIGURES.map((name) => sql`${identifier(name)} desc`)
  return sql`
    select * from (${rows}) as every_row
    order by ${shownColumn(ORDER_BY[orderBy])} ${direction}, day desc, article_id, merch_id,
      ${joinSql(figures, ', ')}
    limit ${limitRows}`
}

function rank({ orderBy, isAscending }: StatsRequest) {
  const column = ORDER_BY[orderBy]
  const sign = isAscending ? 1 : -1
  return (first: RankedRow, second: RankedRow): number =>
    sign * compare(shownValue(first, column), shownValue(second, column)) ||
    compare(second.day, first.day) ||
    first.article_id - second.article_id ||
    first.merch_id - second.merch_id ||
    FIGURES.reduce((sum, name) => sum || compare(second[name], first[name]), 0)
}

/** Rows sort by the amounts shown: amounts with the same cents are a tie. */
function shownValue(row: RankedRow, column: ColumnName): number | string {
  return isSum(column) ? roundToCents(row[column]) : row[column]
}

/** The same in SQL, where floats are rounded half to even. */
function shownColumn(column: ColumnName): Sql {
  return isSum(column)
    ? sql`round(${identifier(column)} / ${MICROS_PER_CENT}::float8)`
    : identifier(column)
}

function isSum(column: ColumnName): column is (typeof SUM_COLUMNS)[number] {
  return SUM_COLUMNS.some((name) => name === column)
}

function compare(first: Sum | string, second: Sum | string): number {
  return Number(first > second) - Number(first < second)
}

const NUMBER_COLUMNS = [
  'article_id',
  'merch_id',
  'clicks',
  'sales',
  'impressions',
] as const satisfies readonly ColumnName[]
const SUM_COLUMNS = ['revenue_micros', 'earnings_micros'] as const satisfies readonly ColumnName[]

/**
 * Reads rows as one row of arrays. Ten thousand rows of eight small fields would cost the driver
 * more than the query costs the database.
 */
async function readRows(db: Db, rows: Sql): Promise<RankedRow[]> {
  const lists = ['day', ...NUMBER_COLUMNS, ...SUM_COLUMNS].map((name) => {
    const column = identifier(name)
    return sql`string_agg(${column}::text, ',') as ${column}`
  })
  const columns = await db.row<Record<ColumnName, string | null>>(sql`
    select ${joinSql(lists, ', ')} from (${rows}) as wanted`)
  if (columns?.day == null) return []
  const numbers = (name: ColumnName) => JSON.parse(`[${columns[name]}]`) as number[]
  const [articleIds = [], merchIds = [], clicks = [], sales = [], impressions = []] =
    NUMBER_COLUMNS.map(numbers)
  const [revenue = [], earnings = []] = SUM_COLUMNS.map((name) => readSums(columns[name] ?? ''))
  return columns.day.split(',').map((day, row) => ({
    day,
    article_id: articleIds[row] ?? 0,
    merch_id: merchIds[row] ?? 0,
    clicks: clicks[row] ?? 0,
    sales: sales[row] ?? 0,
    revenue_micros: revenue[row] ?? 0,
    earnings_micros: earnings[row] ?? 0,
    impressions: impressions[row] ?? 0,
  }))
}

/** As numbers if all are exact, which serialises ten times faster. */
function readSums(list: string): readonly Sum[] {
  const sums = JSON.parse(`[${list}]`) as number[]
  return sums.every(Number.isSafeInteger) ? sums : list.split(',').map(BigInt)
}

async function findArticles(
  db: Db,
  ids: ReadonlySet<number>,
): Promise<Map<number, { readonly name: string; readonly url: string }>> {
  const rows = await db.rows<{ article_id: number; name: string; url: string }>(sql`
    select article_id, name, url from article where article_id = any(${[...ids]}::int[])`)
  return new Map(rows.map(({ article_id, ...article }) => [article_id, article]))
}
