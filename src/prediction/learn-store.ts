/** The nightly job that updates the prediction's model. */
import { MODEL } from '../events/event.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'
import {
  APPROVAL_DAYS,
  APPROVAL_STEP_DAYS,
  APPROVAL_STEPS,
  fitApprovals,
  type OrderAges,
} from './approval.ts'
import { fitDelays } from './delay.ts'
import { IS_LED_BY_CLICK, loadMerchantDays, loadWaits } from './delay-store.ts'
import type { HalfLife } from './evidence.ts'
import { loadEvidence } from './evidence-store.ts'
import { fitModel } from './fit.ts'
import { fitHalfLife } from './half-life.ts'
import { loadModel, saveModel } from './model-store.ts'
import type { PredictionModel } from './prediction-model.ts'
import { fitReturnShares, RETURN_DAYS, type SoldValue } from './return-share.ts'

/** Fits the model to the current evidence of the pairs, and stores it as the day's. */
export async function fitNightly(db: Db, nowMs: number): Promise<PredictionModel> {
  const day = utcDay(nowMs)
  const yesterday = await loadModel(db, day) // A second fit smooths alike.
  const delays = { ...yesterday, ...fitDelays(await loadWaits(db, nowMs)) }
  const halfLife = fitHalfLife(await loadMerchantDays(db, nowMs), delays, nowMs)
  const asOf = { ...delays, halfLife }
  const model = {
    ...fitModel(await loadEvidence(db, halfLife), { yesterday: asOf, nowMs }),
    ...fitReturnShares(await findSoldValues(db, nowMs)),
    ...fitApprovals(await findOrderAges(db, nowMs, halfLife)),
  }
  await saveModel(db, { model, day, nowMs })
  return model
}

/** Beyond this many delays, another day of data adds nothing. */
const WAITS_ENOUGH = 1_000

/**
 * Whether the model rests on so few orders that it may change within a day. The value of a
 * network's first clicks is overestimated several times until the delay of its readers is known.
 */
export async function isModelYoung(db: Db): Promise<boolean> {
  return (await loadModel(db)).delayOrders < WAITS_ENOUGH
}

async function findSoldValues(db: Db, nowMs: number): Promise<SoldValue[]> {
  const day = (daysAgo: number) => utcDay(nowMs - daysAgo * DAY_MS)
  return db.rows<SoldValue>(sql`
    select merch_id, sum(revenue_micros)::float8 as sold, sum(net_revenue_micros)::float8 as kept
    from merchant_order
    where day between ${day(RETURN_DAYS.oldest)} and ${day(RETURN_DAYS.youngest)}
      and pub_id is not null and rejected_at is null and hold is null
    group by merch_id having sum(revenue_micros) > 0`)
}

/** An order is weighted by value, up to this many times the usual order. */
const WEIGHT_MAX = 5

/**
 * Counts each merchant's CPA orders by the weeks of their age: those that entered a week within
 * APPROVAL_DAYS, those rejected in it, and those that remain. An order is weighted by its value
 * over the merchant's geometric mean, so that approving small orders does not hide the rejection of
 * large ones.
 */
async function findOrderAges(db: Db, nowMs: number, halfLife: HalfLife): Promise<OrderAges[]> {
  const now = sql`${new Date(nowMs)}::timestamptz`
  const oldest = new Date(nowMs - (APPROVAL_STEPS * APPROVAL_STEP_DAYS + APPROVAL_DAYS) * DAY_MS)
  return db.rows<OrderAges>(sql`
    with sold as (
      select merchant_order.merch_id, accepted_at, rejected_at,
        least(${WEIGHT_MAX}::float8,
          revenue_micros / exp(avg(ln(revenue_micros)) over of_merchant)) as weight,
        extract(epoch from ${now} - accepted_at)::float8 / 86400 as age_days,
        extract(epoch from ${now} - at)::float8 / 86400 as click_days,
        extract(epoch from least(${now}, rejected_at) - accepted_at)::float8 / 86400 as lasted_days
      from merchant_order join click using (click_id)
      where accepted_at >= ${oldest} and accepted_at <= ${now}
        and merchant_order.model = ${MODEL.cpa} and revenue_micros > 0 and hold is null
        and reversed_at is null and ${IS_LED_BY_CLICK}
      window of_merchant as (partition by merchant_order.merch_id)
    ), aged as (
      select *, step * ${APPROVAL_STEP_DAYS}::int as from_days,
        (step + 1) * ${APPROVAL_STEP_DAYS}::int as to_days,
        coalesce(rejected_at <= ${now}, false) as is_rejected
      from sold, generate_series(0, least(${APPROVAL_STEPS}::int,
        floor(age_days / ${APPROVAL_STEP_DAYS}::int)::int)) as step
    ), counted as (
      select *, lasted_days >= from_days and from_days < ${APPROVAL_STEPS * APPROVAL_STEP_DAYS}::int
          and age_days - from_days <= ${APPROVAL_DAYS}::int as is_exposed,
        is_rejected and lasted_days < to_days as is_rejected_now
      from aged
    )
    select merch_id, step,
      coalesce(sum(case when age_days >= to_days or is_rejected_now then weight else weight / 2 end)
        filter (where is_exposed), 0)::float8 as exposed,
      coalesce(sum(weight) filter (where is_exposed and is_rejected_now), 0)::float8 as rejected,
      coalesce(sum(weight * 0.5 ^ (click_days / ${halfLife}::float8)) filter (
        where not is_rejected and (age_days < to_days or step = ${APPROVAL_STEPS}::int)
      ), 0)::float8 as active
    from counted group by merch_id, step`)
}
