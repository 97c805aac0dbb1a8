-- Every line of every order, and its returns. Whole rows are compared first: comparing each column
-- of all rows would cost more than everything else.
with expected as (
  select merch_id, order_id, line, product_id, quantity, coalesce(was, 0) as was,
    revenue as line_revenue, commission as commission_part, earnings as earning_part,
    model = 2 as is_paid_back, key, coalesce(units, 0) as units, worth,
    coalesce(refunded, 0) as refunded
  from r_last_line left join r_returned using (merch_id, order_id, n, line)
), first_step as (
  select distinct on (merch_id, order_id) merch_id, order_id, day
  from r_state where accepted_at is not null order by merch_id, order_id, n
), back as (
  select merch_id, order_id, line, sum(quantity) as quantity, sum(revenue_micros) as revenue,
    sum(commission_micros) as commission, sum(earnings_micros) as earnings
  from order_return_line group by merch_id, order_id, line
)
select merch_id || ' ' || order_id || ' line ' || line as key, compared.name as column_name,
  wanted as expected, had as found, 'events of order ' || order_id as cause
from expected
full join order_line found using (merch_id, order_id, line)
full join back using (merch_id, order_id, line)
left join first_step using (merch_id, order_id)
left join merchant_order bought using (merch_id, order_id)
cross join lateral (
  select name, wanted::text as wanted, had::text as had
  from (
    values ('quantity', expected.quantity::numeric, found.quantity::numeric),
      ('returned', was, found.returned),
      ('revenue_micros', line_revenue, found.revenue_micros),
      ('commission_micros', commission_part, found.commission_micros),
      ('earnings_micros', earning_part, found.earnings_micros),
      ('returned units', was, coalesce(back.quantity, 0)),
      ('returned revenue_micros', case when units > 0 or refunded > 0
        then pg_temp.gone_of(line_revenue, units, expected.quantity, worth, refunded) else 0 end,
        coalesce(back.revenue, 0)),
      ('returned commission_micros', case when (units > 0 or refunded > 0) and is_paid_back
        then pg_temp.gone_of(commission_part, units, expected.quantity, worth, refunded) else 0 end,
        coalesce(back.commission, 0)),
      ('returned earnings_micros', case when (units > 0 or refunded > 0) and is_paid_back
        then pg_temp.gone_of(earning_part, units, expected.quantity, worth, refunded) else 0 end,
        coalesce(back.earnings, 0))
  ) as amounts (name, wanted, had)
  where wanted is distinct from had
  union all
  -- A line is released by its key, and returns are placed on it by its product.
  select name, wanted, had
  from (
    values ('order_product_id', expected.key, found.order_product_id),
      ('product_id', expected.product_id, found.product_id)
  ) as names (name, wanted, had)
  where wanted is distinct from had
) as compared
where (
    (expected.quantity, was, line_revenue, commission_part, earning_part, was, expected.key,
      expected.product_id) is distinct from
    (found.quantity, found.returned, found.revenue_micros, found.commission_micros,
      found.earnings_micros, coalesce(back.quantity, 0), found.order_product_id,
      found.product_id)
    or was > 0 or refunded > 0)
  and coalesce(first_step.day, bought.day)
    between pg_temp.day_from() and pg_temp.day_to()
