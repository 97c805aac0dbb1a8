/** Paid clicks of addresses that made many invalid clicks on the same day, in SQL. */
import { REASON } from '../events/reason.ts'
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

/** Rules that a person seldom breaks. Bots, previews and double clicks say nothing of others. */
const SUSPICIOUS = [
  REASON.tooFast,
  REASON.rateLimited,
  REASON.embedded,
  REASON.duplicateVisitor,
  REASON.visitorLimit,
  REASON.scanner,
  REASON.addressLimit,
]
/** A reader who opens one link again and again stays below it. */
export const SUSPICIOUS_MIN = 5

export interface FlaggedClicks {
  readonly day: string
  readonly pub_id: number
  readonly invalid_clicks: number
  readonly reason: number // the most frequent one
  readonly click_ids: readonly Buffer[] // paid, and not reversed
  readonly merchant_cost_micros: string
  readonly publisher_earnings_micros: string
  readonly first_at: Date
  readonly last_at: Date
}

/** Groups of one publisher, UTC day and address unit, the most expensive first. */
export function listFlaggedClicks(db: Db, since: Date): Promise<FlaggedClicks[]> {
  return db.rows(sql`
    with suspect as (
      select day, pub_id, address_key, count(*)::int as invalid_clicks,
        mode() within group (order by reason) as reason
      from click
      where at >= ${since} and address_key is not null and reason = any(${SUSPICIOUS}::smallint[])
      group by 1, 2, 3 having count(*) >= ${SUSPICIOUS_MIN}
    )
    select suspect.day::text, suspect.pub_id, suspect.invalid_clicks, suspect.reason,
      array_agg(click_id order by event_id) as click_ids,
      sum(merchant_cost_micros)::bigint as merchant_cost_micros,
      sum(publisher_earnings_micros)::bigint as publisher_earnings_micros,
      min(at) as first_at, max(at) as last_at
    from suspect join click on click.address_key = suspect.address_key
      and click.pub_id = suspect.pub_id and click.day = suspect.day
    where click.reason = ${REASON.ok} and merchant_cost_micros > 0 and reversed_at is null
    group by suspect.day, suspect.pub_id, suspect.address_key, invalid_clicks, suspect.reason
    having count(*) <= invalid_clicks
    order by merchant_cost_micros desc, last_at desc, suspect.pub_id`)
}
