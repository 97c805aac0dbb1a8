-- Each change of the figures with the properties of its click, for the tables of breakdowns
-- (docs/spec/management.md#breakdown).

create temp table r_click_figure (like click_figure) on commit drop;

-- The log does not say which version of an offer a click led to: the stored click does.
insert into r_click_figure
with click as (
  select r_click.*, product_id
  from r_click
  left join click stored on stored.event_id = r_click.id
  left join clicked_offer offer on offer.offer_id = stored.offer_id
    and offer.from_generation = stored.offer_generation
), ordered as (
  select step.at, step.merch_id as seller, step.order_id, step.n, target.click_id,
    net_sales, net_revenue, net_earnings
  from r_target target join r_step_event step using (merch_id, order_id, n)
  where target.click_id is not null
  union all
  select step.at, step.merch_id, step.order_id, step.n, before.click_id,
    -net_sales, -net_revenue, -net_earnings
  from r_target before join r_step_event step
    on step.merch_id = before.merch_id and step.order_id = before.order_id
      and step.n = before.n + 1
  where before.click_id is not null
), change as (
  select at, id, merch_id, (reason = 0)::int as clicks, (reason <> 0)::int as invalid_clicks,
    0::numeric as orders, 0::numeric as revenue, publisher_earnings_micros::numeric as earnings
  from click
  union all
  select reversed_at, id, merch_id, -1, 1, 0, 0, -publisher_earnings_micros
  from click where reversal_id is not null and reason = 0
  union all
  select ordered.at, click.id, seller, 0, 0, sum(net_sales), sum(net_revenue), sum(net_earnings)
  from ordered join click using (click_id)
  group by ordered.at, click.id, seller, order_id, n
  having (sum(net_sales), sum(net_revenue), sum(net_earnings)) <> (0, 0, 0)
)
select change.at, pub_id, article_id, auction_id, change.merch_id, product_id, device, country, u1,
  clicks, invalid_clicks, orders, revenue, earnings
from change join click using (id)
where (change.at at time zone 'UTC')::date between pg_temp.day_from() and pg_temp.day_to();
analyze r_click_figure (pub_id, at);

-- Some days of a table with a time, by an index.
do $time$ begin
  execute format(
    'create function pg_temp.time_from() returns timestamptz language sql immutable as %L',
    format('select timestamptz %L', pg_temp.day_from()::timestamp at time zone 'UTC'));
  execute format(
    'create function pg_temp.time_to() returns timestamptz language sql immutable as %L',
    format('select timestamptz %L', case when isfinite(pg_temp.day_to())
      then (pg_temp.day_to() + 1)::timestamp at time zone 'UTC' else 'infinity' end));
end $time$;
