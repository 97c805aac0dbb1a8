/** Counts accepted orders and returns with warnings by merchant, in SQL. */

import { deleteWhere } from '../platform/postgres/delete-in-batches.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { DAY_MS, utcDay } from '../platform/time/timestamp.ts'
import { WARNING_KINDS, type Warning, type WarningKind } from './intake-warnings.ts'

/** The number of days whose counts an operator sees. */
export const WARNINGS_SHOWN_DAYS = 30

/** Adds warnings to a merchant's day: one row per kind. */
export async function countWarnings(
  db: Db,
  { merchId, atMs, warnings }: { merchId: number; atMs: number; warnings: readonly Warning[] },
): Promise<void> {
  if (warnings.length === 0) return
  const byKind = Map.groupBy(warnings, ({ kind }) => kind)
  const kinds = [...byKind].sort(([one], [other]) => (one < other ? -1 : 1))
  await db.run(sql`
    insert into intake_warning as counted (merch_id, day, kind, count)
    select ${merchId}::int, ${utcDay(atMs)}::date, kind, count
    from unnest(
      ${kinds.map(([kind]) => kind)}::text[],
      ${kinds.map(([, ofKind]) => ofKind.length)}::bigint[]
    ) as input (kind, count)
    on conflict (merch_id, day, kind) do update set count = counted.count + excluded.count`)
}

export type WarningCounts = Readonly<Record<WarningKind, number>>

/** The counts of the last 30 days by merchant; a merchant without any is missing. */
export async function sumWarnings(db: Db, now: Date): Promise<Map<number, WarningCounts>> {
  const dayFrom = utcDay(now.getTime() - WARNINGS_SHOWN_DAYS * DAY_MS)
  const rows = await db.rows<{ merch_id: number; kind: WarningKind; count: number }>(sql`
    select merch_id, kind, sum(count)::float8 as count from intake_warning
    where day > ${dayFrom} group by merch_id, kind`)
  const counts = new Map<number, WarningCounts>()
  for (const { merch_id, kind, count } of rows) {
    counts.set(merch_id, { ...(counts.get(merch_id) ?? NO_WARNINGS), [kind]: count })
  }
  return counts
}

export const NO_WARNINGS = Object.fromEntries(
  WARNING_KINDS.map((kind) => [kind, 0]),
) as WarningCounts

/** Deletes expired counts. Returns their number. */
export function deleteOldWarnings(db: Db, now: Date): Promise<number> {
  const day = utcDay(now.getTime() - WARNINGS_SHOWN_DAYS * DAY_MS)
  return deleteWhere(db, 'intake_warning', sql`day < ${day}::date`)
}
