/** The budgets of campaigns that pay per order, and their clicks whose orders may still come. */
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import { utcDay } from '../platform/timestamp.ts'
import { findOverCap, type OpenBudget, type OpenClicks } from './liability.ts'
import type { OutlookBook } from './outlook.ts'
import { orderTerms, perOrderMicros } from './predict.ts'

/** After so many mean waits a click without an order hardly brings one: e⁻⁷ is under 1/1000. */
const WAITS_MAX = 7

/** Names the CPA and EPP campaigns whose budgets the orders still to come will use up. */
export async function loadOverCap(
  db: Db,
  { outlooks, nowMs }: { outlooks: OutlookBook; nowMs: number },
): Promise<Set<number>> {
  const budgets = await findOpenBudgets(db, utcDay(nowMs))
  if (budgets.length === 0) return new Set()
  const clicks = await findOpenClicks(db, { budgets, outlooks, nowMs })
  return findOverCap(budgets, clicks)
}

/** Both budgets of each campaign; an account that is not open yet has nothing settled. */
async function findOpenBudgets(db: Db, today: string): Promise<OpenBudget[]> {
  const rows = await db.rows<{ campaign_id: number; cap: string; settled: string }>(sql`
    select campaign.campaign_id, cap, coalesce(settled_micros, 0) as settled
    from campaign
    cross join lateral (
      values (null::date, budget_micros), (${today}::date, daily_budget_micros)
    ) as budget (day, cap)
    left join budget_account as account
      on account.campaign_id = campaign.campaign_id and account.day is not distinct from budget.day
    where model <> 'cpc' and state = 'active' and cap is not null`)
  return rows.map((row) => ({
    campaignId: row.campaign_id,
    capMicros: Number(row.cap),
    settledMicros: Number(row.settled),
  }))
}

interface OpenClickRow {
  readonly campaign_id: number
  readonly pub_id: number
  readonly merch_id: number
  readonly model: 'cpa' | 'epp'
  readonly rate_ppm: number | null
  readonly payment_micros: string | null
  readonly clicks: number
}

async function findOpenClicks(
  db: Db,
  from: { budgets: readonly OpenBudget[]; outlooks: OutlookBook; nowMs: number },
): Promise<OpenClicks[]> {
  const { budgets, outlooks, nowMs } = from
  const { delayMs } = outlooks
  const rows = await db.rows<OpenClickRow>(sql`
    select campaign_id, pub_id, click.merch_id, campaign.model, rate_ppm, payment_micros,
      sum(exp(-extract(epoch from ${new Date(nowMs)}::timestamptz - at)::float8
        * 1000 / ${delayMs}::float8)) as clicks
    from click join campaign using (campaign_id)
    where campaign_id = any(${budgets.map(({ campaignId }) => campaignId)}::int[])
      and at > ${new Date(nowMs - WAITS_MAX * delayMs)} and at <= ${new Date(nowMs)}
      and reason = 0 and reversed_at is null
      and not exists (
        select from merchant_order
        where merchant_order.click_id = click.click_id and coalesce(attribution, '') <> 'impression'
      )
    group by campaign_id, pub_id, click.merch_id, campaign.model, rate_ppm, payment_micros`)
  return rows.map((row) => {
    const outlook = outlooks.of(row.pub_id, row.merch_id)
    return {
      campaignId: row.campaign_id,
      clicks: row.clicks,
      orderRate: outlook.rate.rate,
      perOrderMicros: perOrderMicros(orderTerms(row.model, row), { ...outlook, share: 1 }),
    }
  })
}
