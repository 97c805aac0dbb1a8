/** The fitted models, one a day. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { type PredictionModel, UNFITTED_MODEL } from './prediction-model.ts'

/** The newest model, or that of the days before one; the unfitted one while there is none. */
export async function loadModel(db: Db, before = 'infinity'): Promise<PredictionModel> {
  const row = await db.row<{ model: PredictionModel }>(sql`
    select model from prediction_model where day < ${before}::date order by day desc limit 1`)
  // A model of an older version lacks what is new.
  const values = { ...UNFITTED_MODEL.values, ...row?.model.values }
  return { ...UNFITTED_MODEL, ...row?.model, values }
}

/**
 * Keeps the model of a day; a second fit of the same day replaces the first. One of a later day was
 * made by a clock that was ahead, and would be the newest until that day.
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
