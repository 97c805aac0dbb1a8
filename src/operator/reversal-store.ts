/** Reversed clicks in SQL. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

export interface ReversedClick {
  readonly event_id: string
  readonly reversal_event_id: string
  readonly click_id: Buffer
  readonly at: Date
  readonly pub_id: number
  readonly merch_id: number
  readonly merchant_cost_micros: string
  readonly publisher_earnings_micros: string
  readonly reversed_at: Date
  readonly reverse_reason: string
}

/** A page of reversed clicks, the latest reversal first, with one more row than `limit`. */
export function listReversedClicks(
  db: Db,
  { before, limit }: { readonly before: string | null; readonly limit: number },
): Promise<ReversedClick[]> {
  return db.rows(sql`
    select event_id, reversal_event_id, click_id, at, pub_id, merch_id, merchant_cost_micros,
      publisher_earnings_micros, reversed_at, coalesce(reverse_reason, '') as reverse_reason
    from click
    where reversal_event_id is not null and reversed_at is not null
      and (${before}::bigint is null or reversal_event_id < ${before})
    order by reversal_event_id desc limit ${limit + 1}`)
}
