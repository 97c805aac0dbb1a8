/**
 * The only way to change the figures: a change of a row, with its cause.
 *
 * Each change is also stored (`stats_change`), so that the report at any time is the sum of the
 * changes until then, and every row has its history. That includes rows with zeros, such as a click
 * that no budget could pay, or a returned gift. The same changes count by time and by properties
 * of their clicks (fold-click-figures.ts).
 */
import type { Db } from '../platform/postgres/postgres.ts'
import { sql } from '../platform/postgres/sql.ts'

/** Figures of orders that counted for another click of the same row until now. */
export interface ClickFigure {
  readonly clickId: string // hex
  readonly sales: number
  readonly revenueMicros: number
  readonly earningsMicros: number
}

export interface FigureChange {
  readonly cause: 'click' | 'order' | 'revision' | 'return' | 'reversal'
  readonly eventId: string
  readonly atMs: number
  readonly day: string
  /** The click that the figures are owed to, hex. */
  readonly clickId: string
  /** Sales that count for another click of the same row from now on. */
  readonly moved?: ClickFigure
  readonly pubId: number
  readonly articleId: number
  readonly merchId: number
  readonly clicks?: number
  readonly invalidClicks?: number
  readonly makesRow?: boolean // false for a click that does not count
  readonly sales?: number
  readonly revenueMicros?: number
  readonly earningsMicros?: number
}

/** Adds changes to the daily figures. Locks rows in key order, so that lanes never deadlock. */
export async function addFigures(tx: Db, changes: readonly FigureChange[]): Promise<void> {
  if (changes.length === 0) return
  const column = (read: (change: FigureChange) => number | undefined) =>
    changes.map((change) => read(change) ?? 0)
  await tx.run(sql`
    with given as materialized (
      select * from unnest(
        ${changes.map(({ cause }) => cause)}::text[],
        ${changes.map(({ eventId }) => eventId)}::bigint[],
        ${changes.map(({ day }) => day)}::date[],
        ${changes.map(({ pubId }) => pubId)}::int[],
        ${changes.map(({ articleId }) => articleId)}::int[],
        ${changes.map(({ merchId }) => merchId)}::int[],
        ${column((change) => change.clicks)}::bigint[],
        ${column((change) => change.invalidClicks)}::bigint[],
        ${column((change) => change.sales)}::bigint[],
        ${column((change) => change.revenueMicros)}::bigint[],
        ${column((change) => change.earningsMicros)}::bigint[],
        ${changes.map(({ makesRow = true }) => makesRow)}::boolean[]
      ) as change (cause, event_id, day, pub_id, article_id, merch_id,
        clicks, invalid_clicks, sales, revenue_micros, earnings_micros, makes_row)
    ), kept as (
      insert into stats_change (cause, event_ids, day, pub_id, article_id, merch_id,
        clicks, sales, revenue_micros, earnings_micros)
      select cause, array_agg(event_id order by event_id), day, pub_id, article_id, merch_id,
        sum(clicks), sum(sales), sum(revenue_micros), sum(earnings_micros)
      from given
      where makes_row
      -- A sale that comes must not cancel out with one that goes: a webhook reports it.
      group by cause, day, pub_id, article_id, merch_id, sales > 0
      order by min(event_id)
    )
    insert into stats_day as figures (day, pub_id, article_id, merch_id, clicks, invalid_clicks,
      sales, revenue_micros, earnings_micros, is_row)
    select day, pub_id, article_id, merch_id, sum(clicks), sum(invalid_clicks), sum(sales),
      sum(revenue_micros), sum(earnings_micros), bool_or(makes_row)
    from given
    group by pub_id, day, article_id, merch_id
    order by pub_id, day, article_id, merch_id
    on conflict (pub_id, day, article_id, merch_id) do update set
      clicks = figures.clicks + excluded.clicks,
      invalid_clicks = figures.invalid_clicks + excluded.invalid_clicks,
      sales = figures.sales + excluded.sales,
      revenue_micros = figures.revenue_micros + excluded.revenue_micros,
      earnings_micros = figures.earnings_micros + excluded.earnings_micros,
      is_row = figures.is_row or excluded.is_row`)
}
