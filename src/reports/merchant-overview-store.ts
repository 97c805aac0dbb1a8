/**
 * A merchant's page in SQL: costs by day and publisher, debts, and whether its campaigns run. Costs
 * are the ledger's, so they match its account entry by entry.
 */

import { listSpending } from '../budgets/budget-account.ts'
import { toCampaignRecord } from '../campaigns/campaign-record.ts'
import { standingOf } from '../campaigns/campaign-standing.ts'
import { listCampaigns } from '../campaigns/campaign-store.ts'
import { FEED_AGE_MAX_MS } from '../catalog/merchant.ts'
import { toMerchantRecord } from '../catalog/merchant-record.ts'
import type { Merchant } from '../catalog/merchant-store.ts'
import { readAccount, sumNotDue } from '../ledger/debt-store.ts'
import { formatExact } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { utcDay } from '../platform/time/timestamp.ts'
import { countByReason } from '../stats/click-page-store.ts'
import type { DayRange } from '../stats/day-range.ts'
import type { CampaignFigures, MerchantOverview } from './merchant-overview-schema.ts'
import { daysBetween } from './report.ts'

interface Asked extends Omit<DayRange, 'pubId'> {
  readonly merchant: Merchant
  readonly overCap: ReadonlySet<number> // The campaigns that `findOverCap` returns.
  readonly now: Date
}

interface Sums {
  readonly cost_micros: string
  readonly clicks: string
  readonly sales: string
  readonly revenue_micros: string
}

/** Sums of a day or of a publisher; the other one is null. */
interface GroupSums extends Sums {
  readonly day: string | null
  readonly pub_id: number | null
  readonly publisher_name: string | null
}

/**
 * Everything as of one moment; a payment during the query would otherwise be missing on one side.
 */
export function readMerchantOverview(db: Db, asked: Asked): Promise<MerchantOverview> {
  return db.transaction((tx) => readAll(tx, asked), { isSnapshot: true })
}

async function readAll(db: Db, asked: Asked): Promise<MerchantOverview> {
  const { merchant, dayFrom, dayTo, now } = asked
  const { merch_id: merchId } = merchant
  const groups = await sumGroups(db, asked)
  const byDay = new Map(groups.map((group) => [group.day, group]))
  const account = await readAccount(db, { merchId, until: now })
  const notDue = await sumNotDue(db, { merchId, until: now })
  const { feed_url, feed_error, feed_imported_at } = toMerchantRecord(merchant)
  const feedAge = now.getTime() - (merchant.feed_imported_at?.getTime() ?? 0)
  return {
    merch_id: merchId,
    ...account,
    not_due_usd: formatExact(notDue.costMicros),
    totals: toFigures(addUp(groups.filter(({ day }) => day !== null))),
    days: daysBetween(dayFrom, dayTo).map((day) => ({
      event_date: day,
      ...toFigures(byDay.get(day) ?? NOTHING),
    })),
    publishers: groups.flatMap((sums) => {
      const { pub_id, publisher_name } = sums
      return pub_id === null
        ? []
        : { pub_id, publisher_name: publisher_name ?? '', ...toFigures(sums) }
    }),
    clicks: await countByReason(db, clicksOf(asked)),
    campaigns: await listCampaignFigures(db, asked),
    feed: {
      imported_at: feed_imported_at,
      is_stale: feedAge > FEED_AGE_MAX_MS,
      url: feed_url,
      error: feed_error,
    },
  }
}

/** Payments concern no publisher and are no cost. */
function sumGroups(db: Db, { merchant, dayFrom, dayTo }: Asked): Promise<GroupSums[]> {
  const isWanted = sql`merch_id = ${merchant.merch_id} and day between ${dayFrom} and ${dayTo}`
  return db.rows(sql`
    with cost as (
      select day, pub_id, -sum(amount_micros) as cost_micros from ledger_line
      where account = 'merchant' and pub_id <> 0 and ${isWanted} group by day, pub_id
    ), figure as (
      select day, pub_id, sum(clicks) as clicks, sum(sales) as sales,
        sum(revenue_micros) as revenue_micros
      from stats_day where ${isWanted} and is_row group by day, pub_id
    ), summed as (
      select day, pub_id, coalesce(sum(cost_micros), 0) as cost_micros,
        coalesce(sum(clicks), 0) as clicks, coalesce(sum(sales), 0) as sales,
        coalesce(sum(revenue_micros), 0) as revenue_micros
      from cost full join figure using (day, pub_id)
      group by grouping sets (day, pub_id)
    )
    select summed.*, publisher.name as publisher_name
    from summed left join publisher using (pub_id)
    order by day, cost_micros desc, clicks desc, pub_id`)
}

/**
 * By time, because the index orders a merchant's clicks so; an event's day is the UTC day of its
 * time.
 */
function clicksOf({ merchant, dayFrom, dayTo }: Asked): Sql {
  return sql`click.merch_id = ${merchant.merch_id}
    and click.at >= ${`${dayFrom}T00:00:00Z`}::timestamptz
    and click.at < ${`${dayTo}T00:00:00Z`}::timestamptz + interval '1 day'`
}

async function listCampaignFigures(
  db: Db,
  { merchant, overCap, now }: Asked,
): Promise<CampaignFigures[]> {
  const merchId = merchant.merch_id
  const spending = await listSpending(db, { today: utcDay(now), merchId })
  const spent = new Map(spending.map((row) => [row.campaign_id, row]))
  return (await listCampaigns(db, { merchId })).map((campaign) => {
    const { spent_micros = '0', spent_today_micros = '0' } = spent.get(campaign.campaign_id) ?? {}
    const used = {
      spentMicros: Number(spent_micros),
      spentTodayMicros: Number(spent_today_micros),
      isOverCap: overCap.has(campaign.campaign_id),
    }
    const { campaign_id, model, bid, exclusive_bid, rate, payment, ...rest } =
      toCampaignRecord(campaign)
    const { start, end, daily_budget, budget } = rest
    return {
      ...{ campaign_id, model, bid, exclusive_bid, rate, payment },
      ...{ start, end, daily_budget, budget },
      standing: standingOf(campaign, used, now),
      spent_today: formatExact(spent_today_micros),
      spent: formatExact(spent_micros),
    }
  })
}

const NOTHING: Sums = { cost_micros: '0', clicks: '0', sales: '0', revenue_micros: '0' }

function toFigures(sums: Sums): MerchantOverview['totals'] {
  return {
    cost: formatExact(sums.cost_micros),
    clicks: Number(sums.clicks),
    sales: Number(sums.sales),
    revenue: formatExact(sums.revenue_micros),
  }
}

function addUp(groups: readonly Sums[]): Sums {
  const column = (name: keyof Sums) =>
    String(groups.reduce((sum, group) => sum + BigInt(group[name]), 0n))
  return {
    cost_micros: column('cost_micros'),
    clicks: column('clicks'),
    sales: column('sales'),
    revenue_micros: column('revenue_micros'),
  }
}
