-- Every line of every order, and what came back of it.
with latest as (
  select distinct on (merch_id, order_id) * from r_target order by merch_id, order_id, n desc
), expected as (
  select latest.merch_id, latest.order_id, (place - 1)::int as line, quantity, was, line_revenue,
    commission_part, earning_part, gross.model = 2 as is_paid_back
  from latest
  join r_gross gross using (merch_id, order_id, n)
  cross join lateral unnest(latest.quantities, latest.returned, latest.revenues,
    latest.commissions, latest.line_earnings)
    with ordinality as lines (quantity, was, line_revenue, commission_part, earning_part, place)
), first_step as (
  select distinct on (merch_id, order_id) merch_id, order_id, day
  from r_state where accepted_at is not null order by merch_id, order_id, n
), back as (
  select merch_id, order_id, line, sum(quantity) as quantity, sum(revenue_micros) as revenue,
    sum(commission_micros) as commission, sum(earnings_micros) as earnings
  from order_return_line group by merch_id, order_id, line
)
select merch_id || ' ' || order_id || ' line ' || line as key, compared.name as column_name,
  wanted::text as expected, had::text as found, 'events of order ' || order_id as cause
from expected
full join order_line found using (merch_id, order_id, line)
full join back using (merch_id, order_id, line)
left join first_step using (merch_id, order_id)
left join merchant_order bought using (merch_id, order_id)
cross join lateral (
  values ('quantity', expected.quantity::numeric, found.quantity::numeric),
    ('returned', was, found.returned),
    ('revenue_micros', line_revenue, found.revenue_micros),
    ('commission_micros', commission_part, found.commission_micros),
    ('earnings_micros', earning_part, found.earnings_micros),
    ('returned units', was, coalesce(back.quantity, 0)),
    ('returned revenue_micros', pg_temp.taken_back(line_revenue, was, expected.quantity),
      coalesce(back.revenue, 0)),
    ('returned commission_micros', case when is_paid_back
      then pg_temp.taken_back(commission_part, was, expected.quantity) else 0 end,
      coalesce(back.commission, 0)),
    ('returned earnings_micros', case when is_paid_back
      then pg_temp.taken_back(earning_part, was, expected.quantity) else 0 end,
      coalesce(back.earnings, 0))
) as compared (name, wanted, had)
where wanted is distinct from had
  and coalesce(first_step.day, bought.day)
    between (select day_from from r_range) and (select day_to from r_range)
