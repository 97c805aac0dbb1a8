-- Totals by quarter of an hour are sums of the changes.
select slot || ' publisher ' || pub_id as key, name as column_name,
  coalesce(wanted, 0)::text as expected, coalesce(had, 0)::text as found,
  'changes in click_figure' as cause
from (
  select pub_id, quarter_hour(at) as slot, sum(clicks) as clicks,
    sum(invalid_clicks) as invalid_clicks, sum(orders) as orders,
    sum(revenue_micros) as revenue_micros, sum(earnings_micros) as earnings_micros
  from click_figure
  where at >= pg_temp.time_from() and at < pg_temp.time_to() group by 1, 2
) as summed
full join (
  select * from figure_slot where slot >= pg_temp.time_from() and slot < pg_temp.time_to()
) as found using (pub_id, slot)
cross join lateral (values
  ('clicks', summed.clicks, found.clicks),
  ('invalid_clicks', summed.invalid_clicks, found.invalid_clicks),
  ('orders', summed.orders, found.orders),
  ('revenue_micros', summed.revenue_micros, found.revenue_micros),
  ('earnings_micros', summed.earnings_micros, found.earnings_micros)
) as compared (name, wanted, had)
where coalesce(wanted, 0) <> coalesce(had, 0)
