-- The amounts of each order after each of its events, and so the change by each event.

-- The order's amounts as reported, before returns.
create temp table r_gross on commit drop as
with valued as (
  select state.merch_id, order_id, n, case when sureness = 1 then 2 else click.model end as model,
    case when sureness = 1 then rate else click.terms_amount end as terms_amount,
    coalesce(click.share_ppm, 0) as share_ppm,
    coalesce((best->>'value_micros')::numeric, 0) as revenue
  from r_state state
  left join r_click click using (click_id)
  where accepted_at is not null
), owed as (
  select *, case model
      when 2 then pg_temp.half_even(revenue * terms_amount, 1000000)
      when 3 then terms_amount
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
select merch_id, order_id, n, line, product_id, quantity, model, revenue, part_of,
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
  (body->>'quantity')::int as quantity, body->>'amount' as amount, body->>'currency' as currency
from r_order_event where type = 13
order by merch_id, order_id, body->>'return_id', seq;
analyze r_return;

-- The lines of orders with returns, in minor units of the order's currency: by the value before
-- returns (for a net value the highest reported one), and by the net value.
create temp table r_basket on commit drop as
select merch_id, order_id, n, quantities, products, is_net, gross, value, gross - value as included,
  pg_temp.shared_out(gross, weights) as worths, pg_temp.shared_out(value, weights) as nets,
  best->>'currency' as currency,
  10 ^ (case when strpos(best->>'value', '.') = 0 then 0
    else length(best->>'value') - strpos(best->>'value', '.') end)::numeric as scale
from (
  select merch_id, order_id, n, array_agg(quantity order by line) as quantities,
    array_agg(product_id order by line) as products, array_agg(part_of order by line) as weights
  from r_line
  where (merch_id, order_id) in (select merch_id, order_id from r_return)
  group by merch_id, order_id, n
) as bought
join r_state using (merch_id, order_id, n)
cross join lateral (
  select coalesce((best->>'is_net')::boolean, false) as is_net,
    pg_temp.minor_of(best->>'value') as value
) as reported_value
cross join lateral (
  select case when is_net then greatest(value, (best->>'peak')::numeric) else value end as gross
) as before_returns;
analyze r_basket;

-- Each return by itself names units or an amount. For a net value, returns reverse only the excess
-- over its distance from the highest reported value: from all lines, by the rest.
create temp table r_placed on commit drop as
with recursive due as (
  select basket.merch_id, basket.order_id, basket.n, quantities, products, worths, nets, is_net,
    included, goods.return_id, line, product_id, goods.amount is not null as is_amount,
    goods.amount is not null and line is null and product_id is null as is_whole,
    case when goods.amount is null then goods.quantity else goods.amount::numeric * scale end
      as wanted,
    goods.amount is null or (coalesce(goods.currency, basket.currency) = basket.currency
      and mod(goods.amount::numeric * scale, 1) = 0) as is_readable,
    row_number() over (partition by basket.merch_id, basket.order_id, basket.n order by goods.id)
      as m
  from r_basket basket
  join r_state using (merch_id, order_id, n)
  join r_return goods on goods.merch_id = basket.merch_id and goods.order_id = basket.order_id
    and goods.seq <= r_state.seq
), placed as (
  select merch_id, order_id, n, 0::bigint as m, null::text as return_id, true as is_applied,
    array_fill(0, array[cardinality(quantities)]) as returned,
    array_fill(0::numeric, array[cardinality(quantities)]) as refunded,
    array_fill(0::numeric, array[cardinality(quantities)]) as taken
  from due where m = 1
  union all
  select due.merch_id, due.order_id, due.n, due.m, due.return_id, fits.is_applied,
    case when fits.is_applied then fits.returned else placed.returned end,
    case when fits.is_applied then fits.refunded else placed.refunded end,
    case when fits.is_applied and is_net then (
        select array_agg(was + more order by place)
        from unnest(placed.taken, pg_temp.shared_out(
          greatest(0, fits.gone - included) - greatest(0, fits.gone_before - included),
          (select array_agg(net - was order by place)
            from unnest(nets, placed.taken) with ordinality as lines (net, was, place))
        )) with ordinality as lines (was, more, place)
      ) else placed.taken end
  from placed
  join due on due.merch_id = placed.merch_id and due.order_id = placed.order_id
    and due.n = placed.n and due.m = placed.m + 1
  cross join lateral (
    select array_agg(case
        when is_meant is not true then 0
        when is_amount then worth - pg_temp.units_minor(worth, was, bought) - back
        when back = 0 then bought - was
        else greatest(0, least(bought, div((2 * (worth - back) + 1) * bought, 2 * worth)) - was)
      end order by place) as open
    from (
      select *, (due.line is null or due.line = place - 1)
        and (due.product_id is null or due.product_id = product) as is_meant
      from unnest(due.quantities, due.products, due.worths, placed.returned, placed.refunded)
        with ordinality as lines (bought, product, worth, was, back, place)
    ) as meant
  ) as room
  cross join lateral (
    select case when is_whole then pg_temp.shared_out(wanted, open) else (
      select array_agg(greatest(0, least(part, wanted - before)) order by place)
      from (
        select place, part, coalesce(sum(part) over (
          order by place rows between unbounded preceding and 1 preceding), 0) as before
        from unnest(open) with ordinality as lines (part, place)
      ) as filled
    ) end as parts
  ) as share
  cross join lateral (
    select is_readable and (select sum(part) from unnest(open) as lines (part)) >= wanted
        as is_applied,
      array_agg(was + case when is_amount then 0 else part end order by place)::int[] as returned,
      array_agg(back + case when is_amount then part else 0 end order by place) as refunded,
      sum(pg_temp.units_minor(worth, was, bought) + back) as gone_before,
      sum(case when is_amount then pg_temp.units_minor(worth, was, bought) + back + part
        else pg_temp.units_minor(worth, (was + part)::int, bought) + back end) as gone
    from unnest(due.quantities, due.worths, placed.returned, placed.refunded, parts)
      with ordinality as lines (bought, worth, was, back, part, place)
  ) as fits
)
select * from placed where m > 0;
analyze r_placed;

-- How much of each line was gone after each event: units, refunds, and the part of its value that
-- money goes by, which for a net value is what was taken of that.
create temp table r_returned on commit drop as
select merch_id, order_id, n, (place - 1)::int as line, was, back,
  case when is_net then 0 else was end as units,
  case when is_net then net else worth end as worth,
  case when is_net then spent else back end as refunded,
  case when is_net then spent else pg_temp.units_minor(worth, was, bought) + back end as gone,
  case when is_net then value else gross end as whole
from (
  select distinct on (merch_id, order_id, n) merch_id, order_id, n, returned, refunded, taken
  from r_placed order by merch_id, order_id, n, m desc
) as latest
join r_basket basket using (merch_id, order_id, n)
cross join lateral unnest(quantities, returned, latest.refunded, latest.taken, worths, nets)
  with ordinality as lines (bought, was, back, spent, worth, net, place);
create unique index on r_returned (merch_id, order_id, n, line);
analyze r_returned;

create temp table r_target on commit drop as
with taken as (
  select merch_id, order_id, n,
    sum(was) < sum(quantity) and not (
      sum(refunded) > 0 and max(whole) > 0 and sum(gone) = max(whole)) as is_kept,
    sum(was) as units, sum(back) as refunds,
    sum(pg_temp.gone_of(revenue, units, quantity, worth, refunded)) as revenue,
    coalesce(sum(pg_temp.gone_of(commission, units, quantity, worth, refunded))
      filter (where model = 2), 0) as commission,
    coalesce(sum(pg_temp.gone_of(earnings, units, quantity, worth, refunded))
      filter (where model = 2), 0) as earnings
  from r_line line join r_returned using (merch_id, order_id, n, line)
  group by merch_id, order_id, n
)
select state.merch_id, state.order_id, state.n, state.seq, state.id, state.day, state.kind,
  click.click_id, click.pub_id, click.article_id,
  case when sureness = 1 then null else click.campaign_id end as campaign_id,
  coalesce(gross.model, 0) as model, gross.commission, gross.earnings,
  gross.revenue, counted.is_counted, coalesce(taken.units, 0) as units_back,
  coalesce(taken.refunds, 0) as refunds_back,
  case when is_counted and not is_cancelled and not is_nothing_left and coalesce(is_kept, true)
    then 1 else 0 end as net_sales,
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
    pg_temp.ended_by(best) is not null as is_cancelled,
    -- A net value of nothing is no sale, unless that is all there ever was.
    coalesce((best->>'is_net')::boolean, false) and pg_temp.minor_of(best->>'value') = 0
      and coalesce((best->>'peak')::numeric, 0) > 0 as is_nothing_left
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
  select after.merch_id, after.order_id, after.seq, after.id, after.day, after.pub_id,
    after.article_id, after.campaign_id, after.net_sales, after.net_revenue, after.net_commission, after.net_earnings,
    after.is_counted and (before.is_counted is not true or (after.kind = 'return'
      and (after.units_back > before.units_back or after.refunds_back > before.refunds_back)))
      as is_new_row
  from r_target after
  left join r_target before on before.merch_id = after.merch_id
    and before.order_id = after.order_id and before.n = after.n - 1
  where after.pub_id is not null
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
  bool_or(is_new_row) as is_new_row
from moved
group by merch_id, order_id, seq, id, day, pub_id, article_id, campaign_id;
