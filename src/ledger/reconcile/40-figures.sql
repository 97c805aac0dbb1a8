-- The amounts of each order after each of its events, and so the change by each event.

-- The order's amounts as reported, before returns.
create temp table r_gross on commit drop as
with valued as (
  select state.merch_id, order_id, n, case when sureness = 1 then 2 else click.model end as model,
    case when sureness = 1 then rate else click.price_micros end as price_micros,
    coalesce(click.share_ppm, 0) as share_ppm,
    coalesce((best->>'value_micros')::numeric, 0) as revenue
  from r_state state
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
select row_number() over () as whole, merch_id, order_id, n, model, revenue, commission,
  div(commission * share_ppm, 1000000) as earnings
from owed;
create unique index on r_gross (merch_id, order_id, n);
analyze r_gross (merch_id, order_id, n);

-- The lines of the most trusted source that sent any; an order without lines is one line. The
-- order's revenue is divided by price, by largest remainder: in cents if it is whole cents, equal
-- remainders to the earlier line, and equally if no line has a price.
create temp table r_priced on commit drop as
with listed as (
  select merch_id, order_id, n, (place - 1)::int as line, item->>'product_id' as product_id,
    coalesce((item->>'quantity')::int, 1) as quantity,
    coalesce((item->>'price_minor')::numeric, 0) * coalesce((item->>'quantity')::int, 1) as weight
  from r_state
  cross join lateral jsonb_array_elements(lines) with ordinality as elements (item, place)
  where accepted_at is not null
), weighed as (
  select gross.*, line, product_id, quantity, pg_temp.unit_of(revenue) as unit,
    case when max(weight) over (partition by whole) > 0 then weight else 1 end as part_of
  from listed join r_gross gross using (merch_id, order_id, n)
), cut as (
  select *, div(revenue / unit * part_of, sum(part_of) over (partition by whole)) as part,
    mod(revenue / unit * part_of, sum(part_of) over (partition by whole)) as lost
  from weighed
)
select whole, merch_id, order_id, n, line, product_id, quantity, model, commission, earnings,
  part_of, (part + case
    when row_number() over (partition by whole order by lost desc, line)
      <= revenue / unit - sum(part) over (partition by whole) then 1 else 0
  end) * unit as revenue
from cut;

-- Commission and earnings are divided the same way.
create temp table r_line on commit drop as
with summed as (
  select *, pg_temp.unit_of(commission) as unit, pg_temp.unit_of(earnings) as earned_unit,
    sum(part_of) over (partition by whole) as parts
  from r_priced
), cut as (
  select *, div(commission / unit * part_of, parts) as part,
    mod(commission / unit * part_of, parts) as lost,
    div(earnings / earned_unit * part_of, parts) as earned_part,
    mod(earnings / earned_unit * part_of, parts) as earned_lost
  from summed
)
select merch_id, order_id, n, line, product_id, quantity, model, revenue,
  (part + case
    when row_number() over (partition by whole order by lost desc, line)
      <= commission / unit - sum(part) over (partition by whole) then 1 else 0
  end) * unit as commission,
  (earned_part + case
    when row_number() over (partition by whole order by earned_lost desc, line)
      <= earnings / earned_unit - sum(earned_part) over (partition by whole) then 1 else 0
  end) * earned_unit as earnings
from cut;
create unique index on r_line (merch_id, order_id, n, line);
analyze r_line (merch_id, order_id, n, line);

-- Returns in order of acceptance, each return id once, placed on their lines. A return beyond what
-- is left is refused as a whole.
create temp table r_return on commit drop as
select distinct on (merch_id, order_id, body->>'return_id') seq, id, merch_id, order_id,
  body->>'return_id' as return_id, (body->>'line')::int as line, body->>'product_id' as product_id,
  (body->>'quantity')::int as quantity
from r_told where type = 13
order by merch_id, order_id, body->>'return_id', seq;
analyze r_return;

create temp table r_placed on commit drop as
with recursive due as (
  select bought.merch_id, bought.order_id, bought.n, quantities, products, goods.return_id, line,
    product_id, goods.quantity,
    row_number() over (partition by bought.merch_id, bought.order_id, bought.n order by goods.id)
      as m
  from (
    select merch_id, order_id, n, array_agg(quantity order by line) as quantities,
      array_agg(product_id order by line) as products
    from r_line
    where (merch_id, order_id) in (select merch_id, order_id from r_return)
    group by merch_id, order_id, n
  ) as bought
  join r_state using (merch_id, order_id, n)
  join r_return goods on goods.merch_id = bought.merch_id and goods.order_id = bought.order_id
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
analyze r_placed;

-- The returned quantity of each line after each event.
create temp table r_returned on commit drop as
select merch_id, order_id, n, (place - 1)::int as line, was
from (
  select distinct on (merch_id, order_id, n) merch_id, order_id, n, returned
  from r_placed order by merch_id, order_id, n, m desc
) as latest
cross join lateral unnest(returned) with ordinality as lines (was, place)
where was > 0;
create unique index on r_returned (merch_id, order_id, n, line);
analyze r_returned;

create temp table r_target on commit drop as
with taken as (
  select merch_id, order_id, n, sum(least(was, quantity)) < sum(quantity) as is_kept,
    sum(least(was, quantity)) as units,
    sum(pg_temp.taken_back(revenue, was, quantity)) as revenue,
    coalesce(sum(pg_temp.taken_back(commission, was, quantity)) filter (where model = 2), 0)
      as commission,
    coalesce(sum(pg_temp.taken_back(earnings, was, quantity)) filter (where model = 2), 0)
      as earnings
  from (
    select line.*, coalesce(was, 0) as was
    from r_line line left join r_returned using (merch_id, order_id, n, line)
    where (merch_id, order_id, n) in (select merch_id, order_id, n from r_returned)
  ) as lines
  group by merch_id, order_id, n
)
select state.merch_id, state.order_id, state.n, state.seq, state.id, state.day, state.kind,
  click.pub_id, click.article_id,
  case when sureness = 1 then null else click.campaign_id end as campaign_id,
  coalesce(gross.model, 0) as model, gross.commission, gross.earnings,
  gross.revenue, counted.is_counted, coalesce(taken.units, 0) as units_back,
  case when is_counted and not is_cancelled and coalesce(is_kept, true) then 1 else 0 end
    as net_sales,
  case when is_counted and not is_cancelled
    then gross.revenue - coalesce(taken.revenue, 0) else 0 end as net_revenue,
  case when is_counted then gross.commission - coalesce(taken.commission, 0) else 0 end
    as net_commission,
  case when is_counted then gross.earnings - coalesce(taken.earnings, 0) else 0 end
    as net_earnings
from r_state state
join r_gross gross using (merch_id, order_id, n)
left join taken using (merch_id, order_id, n)
left join r_click click using (click_id)
cross join lateral (
  select click.click_id is not null and state.rejected_at is null
      and best->>'value_micros' is not null
      and best->>'hold' is distinct from 'review' as is_counted,
    coalesce((best->>'is_cancelled')::boolean, false) as is_cancelled
) as counted;
create unique index on r_target (merch_id, order_id, n);
analyze r_target (merch_id, order_id, n, seq);

-- The lines after the last event of each order, each with its key.
create temp table r_last_line on commit drop as
select *, pg_temp.line_key(order_id, merch_id, product_id, row_number() over (
  partition by merch_id, order_id, coalesce(product_id, '') order by line)) as key
from r_line
join (select merch_id, order_id, max(n) as n from r_target group by merch_id, order_id) as latest
  using (merch_id, order_id, n);
analyze r_last_line (merch_id, order_id, n, line);

-- The change by each event, per owner. An order that moved to another click is taken from one owner
-- and given to the other. An order that starts to count, and a return, appear on their day even if
-- they move nothing.
create temp table r_change on commit drop as
with moved as (
  select told.merch_id, told.order_id, told.seq, told.id, told.day, told.pub_id, told.article_id,
    told.campaign_id, told.net_sales, told.net_revenue, told.net_commission, told.net_earnings,
    told.is_counted and (before.is_counted is not true or (told.kind = 'return'
      and told.units_back > before.units_back)) as is_news
  from r_target told
  left join r_target before on before.merch_id = told.merch_id
    and before.order_id = told.order_id and before.n = told.n - 1
  where told.pub_id is not null
  union all
  select before.merch_id, before.order_id, after.seq, after.id, after.day, before.pub_id,
    before.article_id, before.campaign_id, -before.net_sales, -before.net_revenue,
    -before.net_commission, -before.net_earnings, false
  from r_target before
  join r_target after on after.merch_id = before.merch_id and after.order_id = before.order_id
    and after.n = before.n + 1
  where before.pub_id is not null
)
select merch_id, order_id, seq, id, day, pub_id, article_id, campaign_id,
  sum(net_sales)::bigint as sales, sum(net_revenue)::bigint as revenue_micros,
  sum(net_commission)::bigint as commission_micros, sum(net_earnings)::bigint as earnings_micros,
  bool_or(is_news) as is_news
from moved
group by merch_id, order_id, seq, id, day, pub_id, article_id, campaign_id;
