/**
 * Changes of the figures by time and by properties of their clicks, for breakdowns in any time
 * zone: docs/spec/management.md#breakdown.
 *
 * `click_figure` has every change with all properties of its click. `figure_slot` has its totals by
 * quarter of an hour, `figure_day` by single property and UTC day, and `figure_span` by single
 * property and 7 or 28 days, so that a breakdown over months reads thousands of rows instead of
 * millions. Only the fold of the money lane writes these tables, one transaction after the other.
 */
import type { Db } from '../platform/postgres/postgres.ts'
import { type Sql, sql } from '../platform/postgres/sql.ts'
import { SPAN_WIDTHS } from './figure-spans.ts'
import type { FigureChange } from './figures.ts'

export async function addClickFigures(tx: Db, given: readonly FigureChange[]): Promise<void> {
  if (given.length === 0) return
  const changes = given.flatMap(withMoved)
  await tx.run(sql`
    with figure as materialized (
      ${withClick(changes)}
    ), change as (
      insert into click_figure select * from figure
    ), slot as (
      insert into figure_slot as total
      select pub_id, quarter_hour(at), sum(clicks), sum(invalid_clicks), sum(orders),
        sum(revenue_micros), sum(earnings_micros)
      from figure group by 1, 2
      on conflict (pub_id, slot) do update set ${ADDED}
    ), daily as materialized (
      select pub_id, property, (at at time zone 'UTC')::date as day, value,
        sum(clicks) as clicks, sum(invalid_clicks) as invalid_clicks, sum(orders) as orders,
        sum(revenue_micros) as revenue_micros, sum(earnings_micros) as earnings_micros
      from figure cross join lateral (values
        ('article', article_id::text), ('link', auction_id::text), ('merchant', merch_id::text),
        ('product', coalesce(product_id::text, '')), ('device', device::text),
        ('country', country), ('u1', u1)
      ) as named (property, value)
      group by 1, 2, 3, 4
    ), span as (
      insert into figure_span as total (pub_id, property, width, first_day, value, clicks,
        invalid_clicks, orders, revenue_micros, earnings_micros)
      select pub_id, property, width, span_begin(day, width), value, sum(clicks),
        sum(invalid_clicks), sum(orders), sum(revenue_micros), sum(earnings_micros)
      from daily cross join ${SPAN_WIDTHS}
      group by 1, 2, 3, 4, 5
      on conflict (pub_id, property, width, first_day, value) do update set ${ADDED}
    )
    insert into figure_day as total
    -- By article and merchant, the days are in stats_day.
    select * from daily where property not in ('article', 'merchant')
    on conflict (pub_id, property, day, value) do update set ${ADDED}`)
}

const ADDED = sql`
  clicks = total.clicks + excluded.clicks,
  invalid_clicks = total.invalid_clicks + excluded.invalid_clicks,
  orders = total.orders + excluded.orders,
  revenue_micros = total.revenue_micros + excluded.revenue_micros,
  earnings_micros = total.earnings_micros + excluded.earnings_micros`

/** Changes with the properties of their clicks. */
function withClick(changes: readonly FigureChange[]): Sql {
  const column = (read: (change: FigureChange) => number | undefined) =>
    changes.map((change) => read(change) ?? 0)
  // Each click and each event is one lookup by key: `limit` keeps the planner from joining.
  return sql`
    select change.at, change.pub_id, change.article_id,
      coalesce(click.auction_id, 0) as auction_id, change.merch_id, offer.product_id,
      coalesce(event.device, 0) as device, coalesce(event.country, '') as country,
      coalesce(event.u1, '') as u1, clicks, invalid_clicks, orders, revenue_micros,
      earnings_micros
    from unnest(
      ${changes.map(({ atMs }) => new Date(atMs))}::timestamptz[],
      ${changes.map(({ clickId }) => Buffer.from(clickId, 'hex'))}::bytea[],
      ${changes.map(({ pubId }) => pubId)}::int[],
      ${changes.map(({ articleId }) => articleId)}::int[],
      ${changes.map(({ merchId }) => merchId)}::int[],
      ${column((change) => change.clicks)}::smallint[],
      ${column((change) => change.invalidClicks)}::smallint[],
      ${column((change) => change.sales)}::int[],
      ${column((change) => change.revenueMicros)}::bigint[],
      ${column((change) => change.earningsMicros)}::bigint[]
    ) as change (at, click_id, pub_id, article_id, merch_id, clicks, invalid_clicks, orders,
      revenue_micros, earnings_micros)
    left join lateral (
      select * from click where click_id = change.click_id limit 1
    ) as click on true
    left join lateral (
      select device, country, u1 from event
      where event.day = click.day and event.id = click.event_id limit 1
    ) as event on true
    left join lateral (
      select product_id from clicked_offer
      where offer_id = click.offer_id and from_generation = click.offer_generation limit 1
    ) as offer on true`
}

/** A change whose sales move to another click also leaves the earlier click. */
function withMoved(change: FigureChange): FigureChange[] {
  const { moved, ...rest } = change
  if (moved === undefined) return [rest]
  const { clickId, sales, revenueMicros, earningsMicros } = moved
  return [
    {
      ...rest,
      clickId,
      sales: -sales,
      revenueMicros: -revenueMicros,
      earningsMicros: -earningsMicros,
    },
    {
      ...rest,
      sales: (rest.sales ?? 0) + sales,
      revenueMicros: (rest.revenueMicros ?? 0) + revenueMicros,
      earningsMicros: (rest.earningsMicros ?? 0) + earningsMicros,
    },
  ]
}
