/** Reversed clicks in SQL. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'
import { CLICK_COLUMNS, type ClickRow } from '../stats/click-view.ts'

export interface ReversedClick extends ClickRow {
  readonly reversal_event_id: string
  readonly reversed_at: Date
}

/** A page of reversed clicks, the latest reversal first, with one more row than `limit`. */
export function listReversedClicks(
  db: Db,
  { before, limit }: { readonly before: string | null; readonly limit: number },
): Promise<ReversedClick[]> {
  return db.rows(sql`
    select ${CLICK_COLUMNS}, reversal_event_id
    from click
    where reversal_event_id is not null and reversed_at is not null
      and (${before}::bigint is null or reversal_event_id < ${before})
    order by reversal_event_id desc limit ${limit + 1}`)
}
