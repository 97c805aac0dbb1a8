-- What each order came to after each of its events, and so what each event changed.

-- The lines of the most trusted report that has any; an order told without them is one line.
create temp table r_line on commit drop as
select merch_id, order_id, n, (place - 1)::int as line, told->>'product_id' as product_id,
  coalesce((told->>'quantity')::int, 1) as quantity,
  coalesce((told->>'price_minor')::numeric, 0) * coalesce((told->>'quantity')::int, 1) as weight
from r_state
cross join lateral (
  select coalesce(
    nullif(s2s->'lines', '[]'::jsonb), nullif(import->'lines', '[]'::jsonb),
    nullif(pixel->'lines', '[]'::jsonb), '[{}]'::jsonb) as lines
) as chosen
cross join lateral jsonb_array_elements(lines) with ordinality as listed (told, place)
where accepted_at is not null;

create temp table r_gross on commit drop as
with valued as (
  select state.merch_id, order_id, n, best, click.model, click.price_micros, click.share_ppm,
    coalesce((best->>'value_micros')::numeric, 0) as revenue
  from r_state state
  cross join lateral (select coalesce(s2s, import, pixel) as best) as believed
  left join r_click click using (click_id)
  where accepted_at is not null
), owed as (
  select *, case model
      when 2 then pg_temp.half_even(revenue * price_micros, 1000000)
      when 3 then price_micros
      else 0
    end as commission
  from valued
)
select owed.*, div(commission * coalesce(share_ppm, 0), 1000000) as earnings, lines.quantities,
  lines.products, lines.revenues, pg_temp.allocate(commission, lines.revenues) as commissions,
  pg_temp.allocate(div(commission * coalesce(share_ppm, 0), 1000000), lines.revenues)
    as line_earnings
from owed
join (
  select merch_id, order_id, n, array_agg(quantity order by line) as quantities,
    array_agg(product_id order by line) as products, array_agg(weight order by line) as weights
  from r_line group by merch_id, order_id, n
) as weighed using (merch_id, order_id, n)
cross join lateral (
  select quantities, products, pg_temp.allocate(revenue, weights) as revenues
) as lines;
create unique index on r_gross (merch_id, order_id, n);

-- Returns by the time they were accepted, each return id once, placed on the lines they mean;
-- what is more than is still out there is refused as a whole.
create temp table r_return on commit drop as
select distinct on (merch_id, order_id, body->>'return_id') seq, id, merch_id, order_id,
  body->>'return_id' as return_id, (body->>'line')::int as line, body->>'product_id' as product_id,
  (body->>'quantity')::int as quantity
from r_told where type = 13
order by merch_id, order_id, body->>'return_id', seq;

create temp table r_placed on commit drop as
with recursive due as (
  select gross.merch_id, gross.order_id, gross.n, quantities, products, goods.return_id, line,
    product_id, goods.quantity,
    row_number() over (partition by gross.merch_id, gross.order_id, gross.n order by goods.id)
      as m
  from r_gross gross
  join r_state using (merch_id, order_id, n)
  join r_return goods on goods.merch_id = gross.merch_id and goods.order_id = gross.order_id
    and goods.seq <= r_state.seq
), placed as (
  select merch_id, order_id, n, 0::bigint as m, null::text as return_id, true as is_applied,
    array_fill(0, array[cardinality(quantities)]) as returned
  from due where m = 1
  union all
  select due.merch_id, due.order_id, due.n, due.m, due.return_id, fits.is_applied,
    case when fits.is_applied then fits.returned else placed.returned end
  from placed
  join due on due.merch_id = placed.merch_id and due.order_id = placed.order_id
    and due.n = placed.n and due.m = placed.m + 1
  cross join lateral (
    select coalesce(sum(open) filter (where is_meant), 0) >= due.quantity as is_applied,
      array_agg(was + case when is_meant
        then greatest(0, least(open, due.quantity - before)) else 0 end order by place)::int[]
        as returned
    from (
      select place, was, bought - was as open,
        (due.line is null or due.line = place - 1)
          and (due.product_id is null or due.product_id = product) as is_meant,
        coalesce(sum(bought - was) filter (
          where (due.line is null or due.line = place - 1)
            and (due.product_id is null or due.product_id = product)
        ) over (order by place rows between unbounded preceding and 1 preceding), 0) as before
      from unnest(due.quantities, due.products, placed.returned)
        with ordinality as lines (bought, product, was, place)
    ) as meant
  ) as fits
)
select * from placed where m > 0;

create temp table r_target on commit drop as
with back as (
  select distinct on (merch_id, order_id, n) merch_id, order_id, n, returned
  from r_placed order by merch_id, order_id, n, m desc
)
select state.merch_id, state.order_id, state.n, state.seq, state.id, state.day, state.kind,
  click.pub_id, click.article_id, click.campaign_id, gross.commission, gross.earnings,
  gross.revenue, coalesce(back.returned, array_fill(0, array[cardinality(quantities)])) as returned,
  quantities, revenues, commissions, line_earnings, counted.is_counted,
  case when is_counted and not is_cancelled and taken.units < taken.bought then 1 else 0 end
    as net_sales,
  case when is_counted and not is_cancelled then gross.revenue - taken.revenue else 0 end
    as net_revenue,
  case when is_counted then gross.commission - taken.commission else 0 end as net_commission,
  case when is_counted then gross.earnings - taken.earnings else 0 end as net_earnings
from r_state state
join r_gross gross using (merch_id, order_id, n)
left join back using (merch_id, order_id, n)
left join r_click click using (click_id)
cross join lateral (
  select click.click_id is not null and state.rejected_at is null
      and best->>'value_micros' is not null
      and (best->>'hold' is distinct from 'review' or is_approved) as is_counted,
    coalesce((best->>'is_cancelled')::boolean, false) as is_cancelled
) as counted
cross join lateral (
  select sum(least(was, bought)) as units, sum(bought) as bought,
    sum(pg_temp.taken_back(line_revenue, was, bought)) as revenue,
    sum(case when gross.model = 2
      then pg_temp.taken_back(line_commission, was, bought) else 0 end) as commission,
    sum(case when gross.model = 2
      then pg_temp.taken_back(line_earning, was, bought) else 0 end) as earnings
  from unnest(quantities,
    coalesce(back.returned, array_fill(0, array[cardinality(quantities)])),
    revenues, commissions, line_earnings)
    as lines (bought, was, line_revenue, line_commission, line_earning)
) as taken;
create unique index on r_target (merch_id, order_id, n);
analyze r_target;

-- What each event changed, per owner; an order that moved to another click is taken from one and
-- given to the other.
create temp table r_change on commit drop as
with moved as (
  select merch_id, order_id, seq, id, day, pub_id, article_id, campaign_id, net_sales,
    net_revenue, net_commission, net_earnings
  from r_target where pub_id is not null
  union all
  select before.merch_id, before.order_id, after.seq, after.id, after.day, before.pub_id,
    before.article_id, before.campaign_id, -before.net_sales, -before.net_revenue,
    -before.net_commission, -before.net_earnings
  from r_target before
  join r_target after on after.merch_id = before.merch_id and after.order_id = before.order_id
    and after.n = before.n + 1
  where before.pub_id is not null
)
select merch_id, order_id, seq, id, day, pub_id, article_id, campaign_id,
  sum(net_sales)::bigint as sales, sum(net_revenue)::bigint as revenue_micros,
  sum(net_commission)::bigint as commission_micros, sum(net_earnings)::bigint as earnings_micros
from moved
group by merch_id, order_id, seq, id, day, pub_id, article_id, campaign_id;
