/** Organizations as the operator sees them, in SQL: figures, last activity, suspension. */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

export interface PageRange {
  /** The id before the page; null for the first page. */
  readonly after: string | null
  readonly limit: number
}

interface FigureRange extends PageRange {
  /** The first UTC day of the figures. */
  readonly dayFrom: string
}

export interface PublisherFigures {
  readonly pub_id: number
  readonly clicks: string
  readonly earnings_micros: string
  readonly last_day: string | null
}

/** A page of publishers with one more row than `limit`, if there is one. */
export function listPublisherFigures(db: Db, range: FigureRange): Promise<PublisherFigures[]> {
  return db.rows(sql`
    select pub_id, coalesce(clicks, 0) as clicks, coalesce(earnings, 0) as earnings_micros,
      (select max(day) from stats_day where stats_day.pub_id = page.pub_id) as last_day
    from (
      select pub_id from publisher where pub_id > coalesce(${range.after}::bigint, 0)
      order by pub_id limit ${range.limit + 1}
    ) as page
    left join lateral (
      select sum(clicks)::bigint as clicks, sum(earnings_micros)::bigint as earnings
      from stats_day where stats_day.pub_id = page.pub_id and day >= ${range.dayFrom} and is_row
    ) as figures on true
    order by pub_id`)
}

export interface MerchantFigures {
  readonly merch_id: number
  readonly clicks: string
  readonly cost_micros: string
  readonly last_day: string | null
}

/** The same for merchants; the cost is the ledger's. */
export function listMerchantFigures(db: Db, range: FigureRange): Promise<MerchantFigures[]> {
  return db.rows(sql`
    select merch_id, coalesce(clicks, 0) as clicks, coalesce(cost, 0) as cost_micros,
      (select max(day) from stats_day where stats_day.merch_id = page.merch_id) as last_day
    from (
      select merch_id from merchant where merch_id > coalesce(${range.after}::bigint, 0)
      order by merch_id limit ${range.limit + 1}
    ) as page
    left join lateral (
      select sum(clicks)::bigint as clicks from stats_day
      where stats_day.merch_id = page.merch_id and day >= ${range.dayFrom} and is_row
    ) as figures on true
    left join lateral (
      select -sum(amount_micros)::bigint as cost from ledger_line
      where account = 'merchant' and pub_id <> 0 and ledger_line.merch_id = page.merch_id
        and day >= ${range.dayFrom}
    ) as booked on true
    order by merch_id`)
}

export async function setPublisherSuspended(tx: Db, pubId: number, to: boolean): Promise<void> {
  await tx.run(sql`
    update publisher set is_suspended = ${to}, datetime_updated = now() where pub_id = ${pubId}`)
}

export async function setMerchantSuspended(tx: Db, merchId: number, to: boolean): Promise<void> {
  await tx.run(sql`
    update merchant set is_suspended = ${to}, datetime_updated = now() where merch_id = ${merchId}`)
}
