/** The budgets of campaigns that pay per order, and their clicks whose orders may still come. */
import { isPerOrder, unpackTerms } from '../events/pay-terms.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'
import type { ClickEstimates, PairEstimate } from '../prediction/click-estimates.ts'
import { waitingAge } from '../prediction/delay.ts'
import { WAITS_MS } from '../prediction/evidence.ts'
import { perOrderMicros } from '../prediction/predict.ts'
import { findOverCap, type OpenBudget, type OpenClicks } from './liability.ts'
import { findOpenClicks, WAITING_MIN } from './open-click-store.ts'

/** Names the CPA and EPP campaigns whose expected orders use up their budgets. */
export async function loadOverCap(
  db: Db,
  { estimates, nowMs }: { estimates: ClickEstimates; nowMs: number },
): Promise<Set<number>> {
  const budgets = await findOpenBudgets(db, utcDay(nowMs))
  if (budgets.length === 0) return new Set()
  const clicks = await loadOpenClicks(db, { budgets, estimates, nowMs })
  return findOverCap(budgets, clicks, DAY_MS - (nowMs % DAY_MS))
}

interface CampaignBudget extends OpenBudget {
  readonly merchId: number
}

interface BudgetRow {
  readonly campaign_id: number
  readonly merch_id: number
  readonly is_daily: boolean
  readonly cap: string
  readonly settled: string
}

/**
 * Both budgets of each campaign; a missing account has nothing settled. Looked up one by one: there
 * is an account for every past day, and a join on `is not distinct from` reads all of them, 3.3
 * million with 9,000 campaigns after a year.
 */
async function findOpenBudgets(db: Db, today: string): Promise<CampaignBudget[]> {
  const rows = await db.rows<BudgetRow>(sql`
    select campaign_id, merch_id, is_daily, cap, coalesce(settled, 0) as settled
    from campaign
    cross join lateral (
      select false, budget_micros, (
        select settled_micros from budget_account as account
        where account.campaign_id = campaign.campaign_id and account.day is null)
      union all
      select true, daily_budget_micros, (
        select settled_micros from budget_account as account
        where account.campaign_id = campaign.campaign_id and account.day = ${today}::date)
    ) as budget (is_daily, cap, settled)
    where model <> 'cpc' and state = 'active' and cap is not null`)
  return rows.map((row) => ({
    campaignId: row.campaign_id,
    merchId: row.merch_id,
    isDaily: row.is_daily,
    capMicros: Number(row.cap),
    settledMicros: Number(row.settled),
  }))
}

/** Each click counts by the delay of its merchant and at its sealed terms. */
async function loadOpenClicks(
  db: Db,
  from: { budgets: readonly CampaignBudget[]; estimates: ClickEstimates; nowMs: number },
): Promise<OpenClicks[]> {
  const { budgets, estimates, nowMs } = from
  const merchIds = [...new Set(budgets.map(({ merchId }) => merchId))]
  const rows = await findOpenClicks(db, {
    campaignIds: [...new Set(budgets.map(({ campaignId }) => campaignId))],
    merchants: merchIds.map((merchId) => ({
      merchId,
      sinceMs: nowMs - waitingAge(estimates.delayOf(merchId), WAITING_MIN),
    })),
    nowMs,
  })
  const ofPairs = new Map<string, PairEstimate>()
  return rows.flatMap((row) => {
    const estimate = ofPairs.getOrInsertComputed(`${row.pub_id} ${row.merch_id}`, () =>
      estimates.of(row.pub_id, row.merch_id),
    )
    const terms = unpackTerms({ model: row.model, amount: Number(row.terms_amount) })
    if (!isPerOrder(terms)) return []
    const open = {
      campaignId: row.campaign_id,
      orderRate: estimate.rate.rate,
      // The whole commission, as owed with the order. Returns and rejections come later, and return
      // money to the budget of their own day only.
      perOrderMicros: perOrderMicros(terms, { ...estimate, returnShare: 0, approvedShare: 1 }),
    }
    return estimates.delayOf(row.merch_id).map((share, part) => ({
      ...open,
      clicks: share * (row.waiting[part] ?? 0),
      delayMs: WAITS_MS[part] ?? 1,
    }))
  })
}
