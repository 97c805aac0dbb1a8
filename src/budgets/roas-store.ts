/** The multipliers of campaigns with a ROAS goal, stepped once an hour by one worker. */
import { REASON } from '../events/reason.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS } from '../platform/time/timestamp.ts'
import { curveText, IS_LED_BY_CLICK, waitingShare } from '../prediction/delay-store.ts'
import { loadModel } from '../prediction/model-store.ts'
import { stepRoasMultiplier } from './roas.ts'

/** Half of what was spent and sold a week ago still counts: orders take days to come. */
const HALF_LIFE_DAYS = 7
const DAYS_MAX = 45

interface CampaignReturn {
  readonly campaign_id: number
  readonly goal: number
  readonly bid_micros: string
  readonly multiplier: number | null
  readonly value_micros: number
  readonly spend_micros: number
}

export async function loadRoasMultipliers(db: Db): Promise<Map<number, number>> {
  const rows = await db.rows<{ campaign_id: number; multiplier: number }>(sql`
    select campaign_id, multiplier from roas_multiplier`)
  return new Map(rows.map(({ campaign_id, multiplier }) => [campaign_id, multiplier]))
}

/**
 * Moves each multiplier by what the campaign's clicks really brought; returns how many. Once an
 * hour, also where it is done again because its worker was killed before it could say so.
 */
export async function stepRoasMultipliers(db: Db, nowMs: number): Promise<number> {
  const returns = await findReturns(db, nowMs)
  const next = returns.map((row) =>
    stepRoasMultiplier(row.multiplier ?? 1, {
      goal: row.goal,
      bidMicros: Number(row.bid_micros),
      valueMicros: row.value_micros,
      spendMicros: row.spend_micros,
    }),
  )
  await db.run(sql`
    insert into roas_multiplier (campaign_id, multiplier, stepped_at)
    select campaign_id, multiplier, ${new Date(nowMs)} from unnest(
      ${returns.map((row) => row.campaign_id)}::int[], ${next}::float8[]
    ) as stepped (campaign_id, multiplier)
    on conflict (campaign_id) do update
    set multiplier = excluded.multiplier, stepped_at = excluded.stepped_at`)
  return returns.length
}

/**
 * Each click counts with the orders that it led to, whenever those came, and costs as much as of
 * its orders is due: the others are on their way, and are not missing. The sales of a click that
 * cost nothing are the campaign's too: of a reader who clicks twice and buys the later is named.
 */
async function findReturns(db: Db, nowMs: number): Promise<CampaignReturn[]> {
  const from = new Date(nowMs - DAYS_MAX * DAY_MS)
  const { delayCurve, delayCurveByMerchant } = await loadModel(db)
  const curve = sql`coalesce(curve, ${curveText(delayCurve)})::float8[]`
  return db.rows<CampaignReturn>(sql`
    select campaign_id, roas as goal, bid_micros, multiplier,
      coalesce(value, 0)::float8 as value_micros, coalesce(spend, 0)::float8 as spend_micros
    from campaign
    left join roas_multiplier using (campaign_id)
    left join unnest(${Object.keys(delayCurveByMerchant)}::int[],
      ${Object.values(delayCurveByMerchant).map(curveText)}::text[]) as own (merch_id, curve)
      using (merch_id)
    left join lateral (
      select sum(paid_micros * weight * due) filter (where reason = ${REASON.ok}) as spend,
        sum(net_revenue_micros * weight) as value
      from click
      left join lateral (
        select sum(net_revenue_micros) as net_revenue_micros from merchant_order
        where merchant_order.click_id = click.click_id and ${IS_LED_BY_CLICK}
      ) as sold on true, lateral (
        select extract(epoch from ${new Date(nowMs)}::timestamptz - at)::float8 * 1000 as age_ms
      ) as old, lateral (
        select 0.5 ^ (age_ms / (${HALF_LIFE_DAYS}::float8 * 86400000)) as weight,
          1 - (${waitingShare(curve, sql`age_ms`)}) as due
      ) as counted
      where click.merch_id = campaign.merch_id and click.campaign_id = campaign.campaign_id
        and reversed_at is null and at >= ${from} and at <= ${new Date(nowMs)}
    ) as seen on true
    where model = 'cpc' and roas is not null and state = 'active'
      and date_trunc('hour', stepped_at)
        is distinct from date_trunc('hour', ${new Date(nowMs)}::timestamptz)`)
}
