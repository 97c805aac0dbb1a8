/** A merchant's performance: how its campaigns fare in auctions, what they cost and bring. */
import Type, { type Static } from 'typebox'
import { list } from '../accounts/operation.ts'
import { LADDER } from '../auction/loss-code.ts'
import { lossReason } from '../auction/loss-reason.ts'
import { deviceWord } from '../events/user-agent.ts'
import { badRequest } from '../platform/errors/api-errors.ts'
import { orNull, smallId } from '../platform/http/field-types.ts'
import { formatExact } from '../platform/money/money.ts'
import { PAGE_DAYS_MAX, RangeQuery } from '../stats/dashboard-schema.ts'
import { rangeFaults, readDays } from '../stats/day-range.ts'
import { GROUPS, type Group, type PerformanceRow, readPerformance } from './performance-store.ts'

const DollarsOrNull = orNull(Type.String(), 'US dollars; null without a bid or a win')
const Count = Type.Integer({ minimum: 0 })

export type PerformanceRecord = Static<typeof PerformanceRecord>
const PerformanceRecord = Type.Object({
  day: orNull(Type.String(), 'UTC; null unless grouped by day'),
  campaign_id: orNull(Type.Integer()),
  pub_id: orNull(Type.Integer()),
  publisher_name: orNull(Type.String()),
  offer_id: orNull(Type.String(), '0: the page itself, without a feed entry'),
  sku: orNull(Type.String()),
  title: orNull(Type.String()),
  device: orNull(Type.String(), 'desktop, mobile, tablet or unknown'),
  country: orNull(Type.String(), 'Two letters; ZZ: unknown'),
  auctions: Type.Integer({
    minimum: 0,
    description: 'Auctions entered, counted for every auction',
  }),
  won: Count,
  win_rate: orNull(Type.Number(), 'Won of entered, 0 to 1'),
  average_bid: DollarsOrNull,
  average_price: orNull(Type.String(), 'US dollars per click won, before it is clicked'),
  lost: Type.Object(
    Object.fromEntries(LADDER.map((code) => [lossReason(code).word, Type.Optional(Count)])),
    { description: 'Auctions lost, by reason' },
  ),
  clicks: Type.Integer({ minimum: 0, description: 'Valid clicks' }),
  invalid_clicks: Count,
  cost: Type.String({ description: 'US dollars: clicks and commissions as they stand now' }),
  orders: Type.Integer(),
  revenue: Type.String({ description: 'US dollars' }),
  roas: orNull(Type.Number(), 'Revenue per dollar of cost; null without a cost'),
})

export const readMerchantPerformance = list({
  id: 'readMerchantPerformance',
  tag: 'merchants',
  path: '/api/v1/merchants/:merch_id/performance/',
  summary: 'Auctions entered, won and lost, clicks, cost, orders and revenue, by group',
  description:
    'Auctions are counted one by one, not estimated from receipts; a process that is killed loses ' +
    'a few seconds of them. Today’s figures lag by a few seconds.',
  permission: 'figures.read',
  params: Type.Object({ merch_id: Type.Integer() }),
  query: Type.Object({
    ...RangeQuery.properties,
    group_by: Type.Optional(Type.Enum([...GROUPS], { description: 'Default day' })),
    campaign_id: Type.Optional(smallId),
  }),
  entry: PerformanceRecord,
  run: async ({ db, params, query }) => {
    const { limit, cursor, group_by: group = 'day', campaign_id: campaignId = null } = query
    const skipRows = readOffset(cursor)
    const faults = rangeFaults(query, PAGE_DAYS_MAX)
    if (faults.length > 0) throw badRequest(faults)
    const { dayFrom, dayTo } = readDays(query)
    const merchId = params.merch_id
    const page = { merchId, campaignId, dayFrom, dayTo, group, skipRows, limitRows: limit + 1 }
    const rows = await readPerformance(db, page)
    const nextCursor = rows.length > limit ? String(skipRows + limit) : null
    return { rows: rows.slice(0, limit).map((row) => toRecord(group, row)), nextCursor }
  },
})

/** The cursor is the number of rows before the page. */
function readOffset(cursor: string | null): number {
  const offset = cursor === null ? 0 : Number(cursor)
  if (Number.isSafeInteger(offset) && offset >= 0) return offset
  throw badRequest([{ field: 'cursor', rule: 'must be the next_cursor of the page before' }])
}

function toRecord(group: Group, row: PerformanceRow): PerformanceRecord {
  const { key, name, sku, bids, auctions, won } = row
  const of = (wanted: Group) => (group === wanted ? key : null)
  const number = (wanted: Group) => (group === wanted ? Number(key) : null)
  const cost = Number(row.cost_micros)
  return {
    day: of('day'),
    campaign_id: number('campaign'),
    pub_id: number('publisher'),
    publisher_name: group === 'publisher' ? name : null,
    offer_id: of('product'),
    sku,
    title: group === 'product' ? name : null,
    device: group === 'device' ? deviceWord(Number(key)) : null,
    country: group === 'country' ? countryCode(Number(key)) : null,
    auctions: Number(auctions),
    won: Number(won),
    win_rate: Number(auctions) === 0 ? null : Number(won) / Number(auctions),
    average_bid: average(row.bid_micros, bids),
    average_price: average(row.price_micros, won),
    lost: Object.fromEntries(
      Object.entries(row.lost).map(([code, count]) => [lossReason(Number(code)).word, count]),
    ),
    clicks: Number(row.clicks),
    invalid_clicks: Number(row.invalid_clicks),
    cost: formatExact(row.cost_micros),
    orders: Number(row.orders),
    revenue: formatExact(row.revenue_micros),
    roas: cost === 0 ? null : Number(row.revenue_micros) / cost,
  }
}

/** Dollars, to the micro-dollar; null without a count. */
function average(sumMicros: string, count: string): string | null {
  return Number(count) === 0 ? null : formatExact(Math.round(Number(sumMicros) / Number(count)))
}

function countryCode(value: number): string {
  return value === 0 ? 'ZZ' : String.fromCharCode(value >> 8, value & 255)
}
