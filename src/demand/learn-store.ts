/** The nightly job that brings the prediction's model up to date (economics 3). */
import type { Db } from '../platform/postgres.ts'
import { sql } from '../platform/sql.ts'
import { DAY_MS, utcDay } from '../platform/timestamp.ts'
import { loadWaits } from './cohort-store.ts'
import { fitDelays } from './delay.ts'
import { loadEvidence } from './evidence-store.ts'
import { fitModel } from './fit.ts'
import { loadModel, saveModel } from './model-store.ts'
import { type PredictionModel, UNFITTED_MODEL } from './prediction-model.ts'

/** Fits the model to what the pairs have shown until now, and keeps it as the day's. */
export async function fitNightly(db: Db, nowMs: number): Promise<PredictionModel> {
  const day = utcDay(nowMs)
  const yesterday = await loadModel(db, day) // A second fit of a day smooths with the same.
  const delays = fitDelays(await loadWaits(db, nowMs))
  const evidence = await loadEvidence(db)
  const fitted = fitModel(evidence, { yesterday: { ...yesterday, ...delays }, nowMs })
  const model = { ...fitted, ...(await findReturnShares(db, nowMs)) }
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

/** Returns come late: orders of these days have brought most of theirs. */
const RETURN_DAYS = { youngest: 14, oldest: 120 }
/**
 * Order value that the wider share is worth against a merchant's own, some 200 orders, and the most
 * that a merchant's own weighs in the network's: one order of $10 million that came back, of a
 * merchant which pays for clicks, would make every other one's commission worth nothing.
 */
const RETURN_PRIOR_MICROS = 10_000e6

/**
 * Drawn to what is usual and not to yesterday's: that comes from the same orders, and each night
 * would count them once more.
 */
async function findReturnShares(
  db: Db,
  nowMs: number,
): Promise<Pick<PredictionModel, 'returnShare' | 'returnShareByMerchant'>> {
  const day = (daysAgo: number) => utcDay(nowMs - daysAgo * DAY_MS)
  const rows = await db.rows<{ merch_id: number; sold: number; kept: number }>(sql`
    select merch_id, sum(revenue_micros)::float8 as sold, sum(net_revenue_micros)::float8 as kept
    from merchant_order
    where day between ${day(RETURN_DAYS.oldest)} and ${day(RETURN_DAYS.youngest)}
      and pub_id is not null and rejected_at is null and hold is null
    group by merch_id having sum(revenue_micros) > 0`)
  const shareOf = (returned: number, sold: number, wider: number): number =>
    Math.min(
      1,
      Math.max(0, (returned + RETURN_PRIOR_MICROS * wider) / (sold + RETURN_PRIOR_MICROS)),
    )
  const network = { sold: 0, returned: 0 }
  for (const { sold, kept } of rows) {
    const weight = Math.min(1, RETURN_PRIOR_MICROS / sold)
    network.sold += weight * sold
    network.returned += weight * (sold - kept)
  }
  const returnShare = shareOf(network.returned, network.sold, UNFITTED_MODEL.returnShare)
  const ofMerchant = (row: (typeof rows)[number]) =>
    [row.merch_id, shareOf(row.sold - row.kept, row.sold, returnShare)] as const
  return { returnShare, returnShareByMerchant: Object.fromEntries(rows.map(ofMerchant)) }
}
