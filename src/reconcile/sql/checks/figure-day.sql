-- Daily totals by property are sums of the changes.
with figure as (
  select pub_id, (at at time zone 'UTC')::date as day, auction_id, product_id, device, country, u1,
    clicks, invalid_clicks, orders, revenue_micros, earnings_micros
  from click_figure where at >= pg_temp.time_from() and at < pg_temp.time_to()
), grouped as (
  select pub_id, day, auction_id, product_id, device, country, u1,
    grouping(auction_id, product_id, device, country, u1) as others, sum(clicks) as clicks,
    sum(invalid_clicks) as invalid_clicks, sum(orders) as orders,
    sum(revenue_micros) as revenue_micros, sum(earnings_micros) as earnings_micros
  from figure
  group by grouping sets ((pub_id, day, auction_id), (pub_id, day, product_id),
    (pub_id, day, device), (pub_id, day, country), (pub_id, day, u1))
), summed as (
  select pub_id, day, named.property collate "C" as property, named.value collate "C" as value,
    clicks, invalid_clicks, orders, revenue_micros, earnings_micros
  from grouped cross join lateral (
    select case others when 15 then 'link' when 23 then 'product' when 27 then 'device'
        when 29 then 'country' else 'u1' end as property,
      coalesce(case others when 15 then auction_id::text when 23 then product_id::text
        when 27 then device::text when 29 then country else u1 end, '') as value
  ) as named
)
select day || ' publisher ' || pub_id || ' ' || property || ' ' || value as key,
  name as column_name, coalesce(wanted, 0)::text as expected, coalesce(had, 0)::text as found,
  'changes in click_figure' as cause
from summed
full join (
  select * from figure_day where day between pg_temp.day_from() and pg_temp.day_to()
) as found using (pub_id, day, property, value)
cross join lateral (values
  ('clicks', summed.clicks, found.clicks),
  ('invalid_clicks', summed.invalid_clicks, found.invalid_clicks),
  ('orders', summed.orders, found.orders),
  ('revenue_micros', summed.revenue_micros, found.revenue_micros),
  ('earnings_micros', summed.earnings_micros, found.earnings_micros)
) as compared (name, wanted, had)
where coalesce(wanted, 0) <> coalesce(had, 0)
