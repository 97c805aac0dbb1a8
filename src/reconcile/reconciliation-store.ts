/** The results of the nightly reconciliations. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { Reconciliation } from './reconcile.ts'

export interface NightlyReconciliation {
  readonly at: Date
  readonly from_day: string
  readonly to_day: string
  readonly events: string
  readonly differences: number
}

export async function recordReconciliation(
  db: Db,
  at: Date,
  { from, to, events, differences }: Reconciliation,
): Promise<void> {
  await db.run(sql`
    insert into reconciliation (at, from_day, to_day, events, differences)
    values (${at}, ${from}, ${to}, ${events}, ${differences.length})
    on conflict (at) do nothing`)
}

/** Last night's result; null before the first. Results from a clock that was ahead do not count. */
export function latestReconciliation(db: Db, now: Date): Promise<NightlyReconciliation | null> {
  return db.row(sql`
    select at, from_day, to_day, events, differences from reconciliation
    where at <= ${now} order by at desc limit 1`)
}
