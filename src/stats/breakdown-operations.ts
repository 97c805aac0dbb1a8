/** A publisher's figures, grouped and filtered by time and by the known properties of a click. */
import Type, { type Static } from 'typebox'
import { list, type Operation } from '../accounts/operation.ts'
import { findPublisher } from '../accounts/publisher-store.ts'
import { PublisherParams } from '../accounts/schema.ts'
import { DEVICE } from '../events/user-agent.ts'
import { CLICK_LABEL_LENGTH_MAX } from '../links/link-url.ts'
import { badRequest, type Fault, notFound } from '../platform/errors/api-errors.ts'
import { idText, orNull, TextOrNull, timestamp } from '../platform/http/field-types.ts'
import { formatExact } from '../platform/money/money.ts'
import { isTimeZone, TIME_ZONE_RULE } from '../platform/time/time-zone.ts'
import { type Breakdown, COMPARISONS, comparedDays, type Filters, GROUPS } from './breakdown.ts'
import { findPeriod, listBreakdown, listNames, type RowFigures } from './breakdown-store.ts'
import { type DayRange, rangeFaults, readDayRange } from './day-range.ts'
import { earningsPerClick } from './earnings-per-click.ts'

/** Two years, compared with the two before. */
const DAYS_MAX = 731
const TIME_ZONE_LENGTH_MAX = 64
const DEVICE_WORDS = ['unknown', 'desktop', 'mobile', 'tablet'] as const

const Query = Type.Object({
  date_from: timestamp('First day in the time zone'),
  date_to: timestamp(`Last day, inclusive; at most ${DAYS_MAX} days at a time`),
  group_by: Type.Enum([...GROUPS]),
  time_zone: Type.Optional(
    Type.String({
      maxLength: TIME_ZONE_LENGTH_MAX,
      description: "IANA name; the publisher's own if absent",
    }),
  ),
  compare: Type.Optional(
    Type.Enum([...COMPARISONS], {
      description: '`previous`: as many days directly before; `year`: the same days a year before',
    }),
  ),
  article: Type.Optional(idText('Only this `article_id`')),
  link: Type.Optional(idText('Only this `auction_id`')),
  merchant: Type.Optional(idText('Only this `merch_id`')),
  product: Type.Optional(idText('Only this `product_id`')),
  device: Type.Optional(Type.Enum([...DEVICE_WORDS])),
  country: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z]{2}$',
      description: 'Only readers of this country, ISO 3166',
    }),
  ),
  u1: Type.Optional(
    Type.String({ maxLength: CLICK_LABEL_LENGTH_MAX, description: 'Only clicks with this `u1`' }),
  ),
})
type Query = Static<typeof Query>

const count = (description: string) => Type.Integer({ description })
const dollars = (description: string) => Type.String({ description: `${description}, US dollars` })
const COMPARED = 'in the compared period; null without `compare`'

const Row = Type.Object({
  day: orNull(Type.String(), 'With `group_by=day`: YYYY-MM-DD in the time zone'),
  hour: orNull(Type.String(), 'With `group_by=hour`: its begin, local time: 2026-03-02T14:00'),
  article_id: orNull(Type.Integer(), 'With `group_by=article`'),
  auction_id: orNull(Type.String(), 'With `group_by=link`'),
  merch_id: orNull(Type.Integer(), 'With `group_by=merchant`; null: no merchant won'),
  product_id: orNull(Type.String(), 'With `group_by=product`; null: no product'),
  device: orNull(Type.String(), 'With `group_by=device`: unknown, desktop, mobile, or tablet'),
  country: orNull(Type.String(), 'With `group_by=country`; null: unknown'),
  u1: orNull(Type.String(), 'With `group_by=u1`; null: none'),
  name: orNull(Type.String(), 'Of the article, merchant or product; the URL of a link'),
  url: orNull(Type.String(), 'Of the article or link'),
  earnings: dollars('Earned by the publisher'),
  clicks: count('Valid clicks'),
  invalid_clicks: count('Clicks that are not paid: robots, repeats, reversed ones'),
  earnings_per_click: orNull(Type.String(), 'US dollars; null without valid clicks'),
  orders: count('Orders less cancelled and fully returned ones'),
  revenue: dollars('Revenue of merchants by these orders'),
  page_views: orNull(
    Type.Integer(),
    'Of readers, on pages with links; only by day, hour and article, because adding it up over ' +
      'anything else would count views more than once',
  ),
  compared_earnings: TextOrNull,
  compared_clicks: orNull(Type.Integer(), `Valid clicks ${COMPARED}`),
  compared_invalid_clicks: orNull(Type.Integer()),
  compared_earnings_per_click: TextOrNull,
  compared_orders: orNull(Type.Integer()),
  compared_revenue: TextOrNull,
  compared_page_views: orNull(Type.Integer()),
})

export type BreakdownRow = Static<typeof Row>

const breakdown = list({
  id: 'readBreakdown',
  tag: 'publishers',
  path: '/api/v1/publishers/:pub_id/breakdown/',
  summary: "Break a publisher's figures down",
  description:
    'One row per day, hour, or value of one property of the clicks; times come in their order, ' +
    'also those without figures, other rows by earnings. Each figure counts at the time of its ' +
    'own event: an order when it was reported, a return as a negative when it was. The sums agree ' +
    'with the daily statistics of the same UTC days. An hour that clocks repeat is one row.',
  permission: 'figures.read',
  params: PublisherParams,
  query: Query,
  entry: Row,
  run: async ({ db, params: { pub_id: pubId }, query }) => {
    const publisher = await findPublisher(db, pubId)
    if (publisher === null) throw notFound(`No publisher ${pubId}`)
    const { time_zone: timeZone = publisher.time_zone, group_by: group, limit } = query
    const skipRows = readCursor(query.cursor)
    const faults = queryFaults(query, { timeZone, skipRows })
    if (faults.length > 0) throw badRequest(faults)
    const wanted: Breakdown = { pubId, group, filters: readFilters(query), timeZone }
    const days = readDayRange(pubId, query)
    // One snapshot for both periods.
    const rows = await db.transaction(
      async (tx) => {
        const period = await findPeriod(tx, days, timeZone)
        const compared = await findCompared(tx, days, { timeZone, compare: query.compare })
        const page = { period, compared, limitRows: limit + 1, skipRows: skipRows ?? 0 }
        return listBreakdown(tx, wanted, page)
      },
      { isSnapshot: true },
    )
    const shown = rows.slice(0, limit)
    const keys = shown.map(({ key }) => key)
    const names = await listNames(db, group, keys)
    return {
      rows: shown.map((row) => ({
        ...keyColumns(group, row.key),
        name: names.get(row.key)?.name ?? null,
        url: names.get(row.key)?.url ?? null,
        ...toFigures(row),
        ...toCompared(row.before),
      })),
      nextCursor: rows.length > limit ? String((skipRows ?? 0) + limit) : null,
    }
  },
})

export const breakdownOperations: readonly Operation[] = [breakdown]

async function findCompared(
  db: Parameters<typeof findPeriod>[0],
  days: DayRange,
  { timeZone, compare }: { readonly timeZone: string; readonly compare: Query['compare'] },
) {
  if (compare === undefined) return null
  const { shift, ...before } = comparedDays(days, compare)
  return { ...(await findPeriod(db, before, timeZone)), shift }
}

/** The rows before a page: figures change meanwhile, and with them the order of rows. */
function readCursor(cursor: string | null): number | null {
  if (cursor === null) return 0
  return /^\d{1,9}$/.test(cursor) ? Number(cursor) : null
}

function queryFaults(
  query: Query,
  { timeZone, skipRows }: { readonly timeZone: string; readonly skipRows: number | null },
): Fault[] {
  return [
    ...rangeFaults(query, DAYS_MAX),
    ...(isTimeZone(timeZone) ? [] : [{ field: 'time_zone', rule: TIME_ZONE_RULE }]),
    ...(skipRows === null ? [{ field: 'cursor', rule: 'must be the next_cursor of a page' }] : []),
  ]
}

function readFilters({ article, link, merchant, product, device, country, u1 }: Query): Filters {
  const given = {
    ...{ article, link, merchant, product, u1, country: country?.toUpperCase() },
    device: device === undefined ? undefined : String(DEVICE[device]),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

const NO_KEYS = {
  ...{ day: null, hour: null, article_id: null, auction_id: null, merch_id: null },
  ...{ product_id: null, device: null, country: null, u1: null },
}

/** Zero and nothing stand for a row that belongs to none. */
function keyColumns(group: Breakdown['group'], key: string) {
  const text = key === '' || key === '0' ? null : key
  switch (group) {
    case 'article':
      return { ...NO_KEYS, article_id: text === null ? null : Number(text) }
    case 'link':
      return { ...NO_KEYS, auction_id: text }
    case 'merchant':
      return { ...NO_KEYS, merch_id: text === null ? null : Number(text) }
    case 'product':
      return { ...NO_KEYS, product_id: text }
    case 'device':
      return { ...NO_KEYS, device: DEVICE_WORDS[Number(key)] ?? 'unknown' }
    case 'country':
      return { ...NO_KEYS, country: text }
    case 'u1':
      return { ...NO_KEYS, u1: key === '' ? null : key }
    default:
      return { ...NO_KEYS, [group]: key }
  }
}

function toFigures(row: RowFigures) {
  return {
    earnings: formatExact(row.earnings_micros),
    clicks: Number(row.clicks),
    invalid_clicks: Number(row.invalid_clicks),
    earnings_per_click: earningsPerClick(row),
    orders: Number(row.orders),
    revenue: formatExact(row.revenue_micros),
    page_views: row.page_views === null ? null : Number(row.page_views),
  }
}

function toCompared(row: RowFigures | null) {
  const figures = row === null ? null : toFigures(row)
  return {
    compared_earnings: figures?.earnings ?? null,
    compared_clicks: figures?.clicks ?? null,
    compared_invalid_clicks: figures?.invalid_clicks ?? null,
    compared_earnings_per_click: figures?.earnings_per_click ?? null,
    compared_orders: figures?.orders ?? null,
    compared_revenue: figures?.revenue ?? null,
    compared_page_views: figures?.page_views ?? null,
  }
}
