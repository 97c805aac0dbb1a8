/** The results of the nightly reconciliations. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import type { Difference } from './check-totals.ts'
import type { Reconciliation } from './reconcile.ts'

export interface NightlyReconciliation {
  readonly at: Date
  readonly from_day: string
  readonly to_day: string
  readonly events: string
  readonly differences: number
}

/** Enough to see what is wrong; `souk reconcile` names them all. */
const DIFFERENCES_STORED = 20

export async function recordReconciliation(
  db: Db,
  at: Date,
  { from, to, events, differences }: Reconciliation,
): Promise<void> {
  await db.run(sql`
    insert into reconciliation (at, from_day, to_day, events, differences, first_differences)
    values (${at}, ${from}, ${to}, ${events}, ${differences.length},
      ${JSON.stringify(differences.slice(0, DIFFERENCES_STORED))}::jsonb)
    on conflict (at) do nothing`)
}

/** Last night's result; null before the first. Results from a clock that was ahead do not count. */
export function latestReconciliation(db: Db, now: Date): Promise<NightlyReconciliation | null> {
  return db.row(sql`
    select at, from_day, to_day, events, differences from reconciliation
    where at <= ${now} order by at desc limit 1`)
}

export interface StoredReconciliation extends NightlyReconciliation {
  readonly first_differences: readonly Difference[]
}

/** A page of results, the latest first, with one more row than `limit` if there is one. */
export function listReconciliations(
  db: Db,
  { beforeMs, limit }: { readonly beforeMs: string | null; readonly limit: number },
): Promise<StoredReconciliation[]> {
  return db.rows(sql`
    select at, from_day, to_day, events, differences, first_differences from reconciliation
    where ${beforeMs}::bigint is null
      or at < to_timestamp(${beforeMs}::bigint / 1000.0)
    order by at desc limit ${limit + 1}`)
}
