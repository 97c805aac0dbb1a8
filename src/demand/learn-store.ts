/** The nightly job that brings the prediction's model up to date (economics 3). */
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import { DAY_MS, utcDay } from '../platform/timestamp.ts'
import { loadWaits } from './cohort-store.ts'
import { fitDelays } from './delay.ts'
import { loadEvidence } from './evidence-store.ts'
import { fitModel } from './fit.ts'
import { loadModel, saveModel } from './model-store.ts'
import type { PredictionModel } from './prediction-model.ts'
import { fitReturnShares, RETURN_DAYS, type SoldValue } from './return-share.ts'

/** Fits the model to what the pairs have shown until now, and keeps it as the day's. */
export async function fitNightly(db: Db, nowMs: number): Promise<PredictionModel> {
  const day = utcDay(nowMs)
  const yesterday = await loadModel(db, day) // A second fit of a day smooths with the same.
  const delays = fitDelays(await loadWaits(db, nowMs))
  const evidence = await loadEvidence(db)
  const fitted = fitModel(evidence, { yesterday: { ...yesterday, ...delays }, nowMs })
  const model = { ...fitted, ...fitReturnShares(await findSoldValues(db, nowMs)) }
  await saveModel(db, { model, day, nowMs })
  return model
}

/** So many waits say what a day more could. */
const WAITS_ENOUGH = 1_000

/**
 * Whether the model rests on so few orders that it is not right for a whole day. A network's first
 * clicks are worth several times too much until it is known whether its readers buy at once.
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
