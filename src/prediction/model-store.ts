/** The fitted models, one per day. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { type PredictionModel, UNFITTED_MODEL } from './prediction-model.ts'

/** The newest model, or the newest before a day; the unfitted one while there is none. */
export async function loadModel(db: Db, before = 'infinity'): Promise<PredictionModel> {
  const row = await db.row<{ model: PredictionModel }>(sql`
    select model from prediction_model where day < ${before}::date order by day desc limit 1`)
  // A model of an older version lacks newer fields.
  const values = { ...UNFITTED_MODEL.values, ...row?.model.values }
  return { ...UNFITTED_MODEL, ...row?.model, values }
}

/**
 * Stores the model of a day; a second fit of the same day replaces the first. Removes models of
 * later days, which a clock that was ahead has written.
 */
export async function saveModel(
  db: Db,
  { model, day, nowMs }: { model: PredictionModel; day: string; nowMs: number },
): Promise<void> {
  await db.run(sql`
    insert into prediction_model (day, model, fitted_at)
    values (${day}, ${JSON.stringify(model)}::jsonb, ${new Date(nowMs)})
    on conflict (day) do update set model = excluded.model, fitted_at = excluded.fitted_at`)
  await db.run(sql`delete from prediction_model where day > ${day}::date`)
}
