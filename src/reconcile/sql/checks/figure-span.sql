-- Totals of 7 and 28 days are sums of the daily ones: every span with a requested day.
with daily as (
  select pub_id, property, day, value, clicks, invalid_clicks, orders, revenue_micros,
    earnings_micros
  from figure_day
  union all
  select pub_id, property, day, value, clicks, invalid_clicks, sales, revenue_micros,
    earnings_micros
  from stats_day cross join lateral (values
    ('article', article_id::text), ('merchant', merch_id::text)
  ) as named (property, value)
), summed as (
  select pub_id, property, width, span_begin(day, width) as first_day, value,
    sum(clicks) as clicks, sum(invalid_clicks) as invalid_clicks, sum(orders) as orders,
    sum(revenue_micros) as revenue_micros, sum(earnings_micros) as earnings_micros
  from daily cross join (values (7), (28)) as span (width)
  where day >= greatest(pg_temp.day_from(), '1970-01-01') - 27
    and day <= least(pg_temp.day_to(), '9999-01-01') + 27
    and span_begin(day, width) <= pg_temp.day_to()
    and span_begin(day, width) + width > pg_temp.day_from()
  group by 1, 2, 3, 4, 5
)
select first_day || ', ' || width || ' days, publisher ' || pub_id || ' ' || property || ' '
    || value as key,
  name as column_name, coalesce(wanted, 0)::text as expected, coalesce(had, 0)::text as found,
  'daily totals' as cause
from summed
full join (
  select * from figure_span
  where first_day <= pg_temp.day_to() and first_day + width > pg_temp.day_from()
) as found using (pub_id, property, width, first_day, value)
cross join lateral (values
  ('clicks', summed.clicks, found.clicks),
  ('invalid_clicks', summed.invalid_clicks, found.invalid_clicks),
  ('orders', summed.orders, found.orders),
  ('revenue_micros', summed.revenue_micros, found.revenue_micros),
  ('earnings_micros', summed.earnings_micros, found.earnings_micros)
) as compared (name, wanted, had)
where coalesce(wanted, 0) <> coalesce(had, 0)
