/** The multipliers of campaigns with a ROAS goal, stepped once an hour by one worker. */
import { REASON } from '../events/reason.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/timestamp.ts'
import { ClickEstimates } from '../prediction/click-estimates.ts'
import { curveText, IS_LED_BY_CLICK, waitingShare } from '../prediction/delay-store.ts'
import { RETURN_DAYS } from '../prediction/return-share.ts'
import {
  lastingValue,
  ROAS_DAYS,
  ROAS_SPAN_HOURS,
  ROAS_SPANS,
  type RoasMeasure,
  type RoasSpan,
  stepRoasMultiplier,
} from './roas.ts'

export async function loadRoasMultipliers(db: Db): Promise<Map<number, number>> {
  const rows = await db.rows<{ campaign_id: number; multiplier: number }>(sql`
    select campaign_id, multiplier from roas_multiplier`)
  return new Map(rows.map(({ campaign_id, multiplier }) => [campaign_id, multiplier]))
}

/**
 * Moves each multiplier by the cost and orders of the campaign's clicks; returns how many. Once an
 * hour, also if the job runs again because its worker died before it could report.
 */
export async function stepRoasMultipliers(db: Db, nowMs: number): Promise<number> {
  const campaigns = await findDueCampaigns(db, nowMs)
  if (campaigns.length === 0) return 0
  const estimates = new ClickEstimates()
  await estimates.refresh(db, nowMs)
  const rows = Map.groupBy(
    await findSpans(db, { campaigns, estimates, nowMs }),
    ({ campaign_id }) => campaign_id,
  )
  const next = campaigns.map((campaign) =>
    stepRoasMultiplier(
      campaign.multiplier ?? 1,
      measureOf(campaign, rows.get(campaign.campaign_id) ?? [], estimates),
    ),
  )
  await db.run(sql`
    insert into roas_multiplier (campaign_id, multiplier, stepped_at)
    select campaign_id, multiplier, ${new Date(nowMs)} from unnest(
      ${campaigns.map((campaign) => campaign.campaign_id)}::int[], ${next}::float8[]
    ) as stepped (campaign_id, multiplier)
    on conflict (campaign_id) do update
    set multiplier = excluded.multiplier, stepped_at = excluded.stepped_at`)
  return campaigns.length
}

interface DueCampaign {
  readonly campaign_id: number
  readonly merch_id: number
  readonly goal: number
  readonly multiplier: number | null
}

function findDueCampaigns(db: Db, nowMs: number): Promise<DueCampaign[]> {
  return db.rows<DueCampaign>(sql`
    select campaign_id, merch_id, roas as goal, multiplier
    from campaign left join roas_multiplier using (campaign_id)
    where model = 'cpc' and roas is not null and state = 'active'
      and date_trunc('hour', stepped_at)
        is distinct from date_trunc('hour', ${new Date(nowMs)}::timestamptz)`)
}

interface SpanRow {
  readonly campaign_id: number
  readonly age: number // in spans; 0: the one that ends now
  readonly clicks: number
  readonly ripe_clicks: number
  readonly spend_micros: number
  readonly orders: number
  readonly value_micros: number
  readonly squared_value: number
  readonly hour_clicks: number
  readonly hour_spend_micros: number
}

/**
 * A click counts with the orders that it led to, whenever those came. An order of a click that cost
 * nothing is the campaign's too: it is attributed to the later click of a reader who clicked twice.
 * Of an order that stands, some may still be returned or rejected.
 */
async function findSpans(
  db: Db,
  from: {
    readonly campaigns: readonly DueCampaign[]
    readonly estimates: ClickEstimates
    readonly nowMs: number
  },
): Promise<SpanRow[]> {
  const { campaigns, estimates, nowMs } = from
  const now = sql`${new Date(nowMs)}::timestamptz`
  const sold = campaigns.map(({ merch_id }) => estimates.of(0, merch_id))
  const spanMs = ROAS_SPAN_HOURS * HOUR_MS
  const isPaid = sql`reason = ${REASON.ok}`
  const isOfHour = sql`${isPaid} and age_ms <= ${HOUR_MS}::float8`
  const returnDays = sql`${RETURN_DAYS.youngest}::float8`
  return db.rows<SpanRow>(sql`
    select asked.campaign_id, seen.*
    from unnest(
      ${campaigns.map(({ campaign_id }) => campaign_id)}::int[],
      ${campaigns.map(({ merch_id }) => merch_id)}::int[],
      ${campaigns.map(({ merch_id }) => curveText(estimates.delayOf(merch_id)))}::text[],
      ${sold.map(({ returnShare }) => returnShare)}::float8[],
      ${sold.map(({ approvedShare }) => approvedShare)}::float8[]
    ) as asked (campaign_id, merch_id, curve, return_share, approved_share),
    lateral (
      select least(${ROAS_SPANS - 1}::int, floor(age_ms / ${spanMs}::float8))::int as age,
        count(*) filter (where ${isPaid})::int as clicks,
        coalesce(sum(1 - (${waitingShare(sql`curve::float8[]`, sql`age_ms`)}))
          filter (where ${isPaid}), 0)::float8 as ripe_clicks,
        coalesce(sum(merchant_cost_micros) filter (where ${isPaid}), 0)::float8 as spend_micros,
        count(*) filter (where value > 0)::int as orders,
        coalesce(sum(value), 0)::float8 as value_micros,
        coalesce(sum(value ^ 2), 0)::float8 as squared_value,
        count(*) filter (where ${isOfHour})::int as hour_clicks,
        coalesce(sum(merchant_cost_micros) filter (where ${isOfHour}), 0)::float8
          as hour_spend_micros
      from click left join lateral (
        select sum(approved_share * net_revenue_micros * (1 - return_share * greatest(0,
          1 - extract(epoch from ${now} - coalesce(accepted_at, ${now})) / 86400 / ${returnDays}
        )))::float8 as value
        from merchant_order
        where merchant_order.click_id = click.click_id and ${IS_LED_BY_CLICK}
      ) as sold on true, lateral (
        select extract(epoch from ${now} - at)::float8 * 1000 as age_ms
      ) as old
      where click.merch_id = asked.merch_id and click.campaign_id = asked.campaign_id
        and reversed_at is null and at <= ${now} and at > ${new Date(nowMs - ROAS_DAYS * DAY_MS)}
      group by 1
    ) as seen`)
}

function measureOf(
  { merch_id, goal }: DueCampaign,
  rows: readonly SpanRow[],
  estimates: ClickEstimates,
): RoasMeasure {
  const byAge = new Map(rows.map((row) => [row.age, row]))
  const latest = byAge.get(0)
  const estimate = estimates.of(0, merch_id)
  return {
    goal,
    spans: Array.from({ length: ROAS_SPANS }, (_, at) => spanOf(byAge.get(ROAS_SPANS - 1 - at))),
    squaredValue: rows.reduce((sum, row) => sum + row.squared_value, 0),
    lastHour: {
      clicks: latest?.hour_clicks ?? 0,
      spendMicros: latest?.hour_spend_micros ?? 0,
    },
    forecast: { ordersPerClick: estimate.rate.rate, orderMicros: lastingValue(estimate) },
  }
}

function spanOf(row: SpanRow | undefined): RoasSpan {
  return {
    clicks: row?.clicks ?? 0,
    ripeClicks: row?.ripe_clicks ?? 0,
    spendMicros: row?.spend_micros ?? 0,
    orders: row?.orders ?? 0,
    valueMicros: row?.value_micros ?? 0,
  }
}
