/** The budgets of campaigns that pay per order, and their clicks whose orders may still come. */
import { MODEL } from '../events/event.ts'
import { REASON } from '../events/reason.ts'
import { micros } from '../platform/money/money.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'
import { waitingAge } from '../prediction/delay.ts'
import { IS_LED_BY_CLICK } from '../prediction/delay-store.ts'
import { WAITS_MS } from '../prediction/evidence.ts'
import type { OutlookBook } from '../prediction/outlook.ts'
import { perOrderMicros } from '../prediction/predict.ts'
import { findOverCap, type OpenBudget, type OpenClicks } from './liability.ts'

/** Clicks with a smaller part of their order still to come are left out: they are old and many. */
const WAITING_MIN = 0.01
/**
 * Clicks of an address unit and day that count for a campaign: such clicks cost their sender
 * nothing (docs/spec/budgets.md#free-requests-elsewhere).
 */
const CLICKS_PER_ADDRESS = 3

/** Names the CPA and EPP campaigns whose expected orders use up their budgets. */
export async function loadOverCap(
  db: Db,
  { outlooks, nowMs }: { outlooks: OutlookBook; nowMs: number },
): Promise<Set<number>> {
  const budgets = await findOpenBudgets(db, utcDay(nowMs))
  if (budgets.length === 0) return new Set()
  const clicks = await findOpenClicks(db, { budgets, outlooks, nowMs })
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

interface OpenClickRow {
  readonly campaign_id: number
  readonly pub_id: number
  readonly merch_id: number
  readonly model: number
  readonly price_micros: string
  readonly waiting: readonly number[] // Σ exp(-age / WAITS_MS[part])
}

/**
 * Each click counts by the delay of its merchant and at its sealed terms. Each merchant is looked
 * up separately, as far back as its delay goes: with 50,000 clicks a day and one of 300 merchants
 * with a delay of a week, reading the whole week takes 1.3 s, and this .1. One look-up serves all
 * campaigns of a merchant: separate ones would each read all its clicks.
 */
async function findOpenClicks(
  db: Db,
  from: { budgets: readonly CampaignBudget[]; outlooks: OutlookBook; nowMs: number },
): Promise<OpenClicks[]> {
  const { budgets, outlooks, nowMs } = from
  const campaignIds = [...new Set(budgets.map(({ campaignId }) => campaignId))]
  const merchIds = [...new Set(budgets.map(({ merchId }) => merchId))]
  const since = merchIds.map(
    (merchId) => new Date(nowMs - waitingAge(outlooks.delayOf(merchId), WAITING_MIN)),
  )
  const ageMs = sql`extract(epoch from ${new Date(nowMs)}::timestamptz - at)::float8 * 1000`
  const rows = await db.rows<OpenClickRow>(sql`
    select merch_id, open.*
    from unnest(${merchIds}::int[], ${since}::timestamptz[]) as asked (merch_id, since),
    lateral (
      select campaign_id, pub_id, model, price_micros,
        array[${WAITS_MS.map(
          (meanMs) => sql`sum(exp(-least(700, ${ageMs} / ${meanMs}::float8)))`,
        ).reduce((sums, sum) => sql`${sums}, ${sum}`)}] as waiting
      from (
        select click.*, row_number() over (
          partition by campaign_id, coalesce(address_key, click_id) order by at
        ) as of_address
        from click
        where click.merch_id = asked.merch_id and campaign_id = any(${campaignIds}::int[])
          and at > since and at <= ${new Date(nowMs)} and reversed_at is null
          and model in (${MODEL.cpa}, ${MODEL.epp}) and reason = ${REASON.ok}
          and not exists (
            select from merchant_order where merchant_order.click_id = click.click_id
              and ${IS_LED_BY_CLICK}
          )
      ) as open_click
      where of_address <= ${CLICKS_PER_ADDRESS}
      group by campaign_id, pub_id, model, price_micros
    ) as open`)
  return rows.flatMap((row) => {
    const outlook = outlooks.of(row.pub_id, row.merch_id)
    const price = Number(row.price_micros)
    const terms =
      row.model === MODEL.cpa
        ? { model: 'cpa' as const, ratePpm: price }
        : { model: 'epp' as const, paymentMicros: micros(price) }
    const open = {
      campaignId: row.campaign_id,
      orderRate: outlook.rate.rate,
      // The whole commission, as owed with the order. Returns and rejections come later, and return
      // money to the budget of their own day only.
      perOrderMicros: perOrderMicros(terms, { ...outlook, returnShare: 0, approvedShare: 1 }),
    }
    return outlooks.delayOf(row.merch_id).map((share, part) => ({
      ...open,
      clicks: share * (row.waiting[part] ?? 0),
      delayMs: WAITS_MS[part] ?? 1,
    }))
  })
}
