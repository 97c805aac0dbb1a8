-- Each change with the properties of its click. The hashes of a publisher's day are compared first:
-- comparing all rows would cost as much as everything else.
with expected as (
  select * from r_click_figure
), found as (
  select * from click_figure
  where at >= pg_temp.time_from() and at < pg_temp.time_to()
    and (clicks, invalid_clicks, orders, revenue_micros, earnings_micros) <> (0, 0, 0, 0, 0)
), wanted_hash as (
  select pub_id, (at at time zone 'UTC')::date as day,
    sum(hash_record_extended(expected, 0)) as hash
  from expected group by 1, 2
), found_hash as (
  select pub_id, (at at time zone 'UTC')::date as day, sum(hash_record_extended(found, 0)) as hash
  from found group by 1, 2
), other as (
  select pub_id, day
  from wanted_hash wanted full join found_hash had using (pub_id, day)
  where wanted.hash is distinct from had.hash
), change as (
  select expected.*, 1 as side from expected
  join other on other.pub_id = expected.pub_id and day = (at at time zone 'UTC')::date
  union all
  select found.*, -1 from found
  join other on other.pub_id = found.pub_id and day = (at at time zone 'UTC')::date
), summed as (
  select at, pub_id, auction_id, concat_ws(' ', 'article', article_id, 'merchant', merch_id,
      'product', product_id, 'device', device, country, u1) as properties,
    array_agg(side) as sides,
    sum(clicks) filter (where side = 1) as clicks,
    sum(clicks) filter (where side = -1) as had_clicks,
    sum(invalid_clicks) filter (where side = 1) as invalid_clicks,
    sum(invalid_clicks) filter (where side = -1) as had_invalid_clicks,
    sum(orders) filter (where side = 1) as orders,
    sum(orders) filter (where side = -1) as had_orders,
    sum(revenue_micros) filter (where side = 1) as revenue_micros,
    sum(revenue_micros) filter (where side = -1) as had_revenue_micros,
    sum(earnings_micros) filter (where side = 1) as earnings_micros,
    sum(earnings_micros) filter (where side = -1) as had_earnings_micros
  from change group by 1, 2, 3, 4
)
select at || ' publisher ' || pub_id || ' link ' || auction_id || ' ' || properties as key,
  name as column_name, coalesce(wanted, 0)::text as expected, coalesce(had, 0)::text as found,
  'events of ' || at as cause
from summed cross join lateral (values
  ('clicks', clicks, had_clicks), ('invalid_clicks', invalid_clicks, had_invalid_clicks),
  ('orders', orders, had_orders), ('revenue_micros', revenue_micros, had_revenue_micros),
  ('earnings_micros', earnings_micros, had_earnings_micros)
) as compared (name, wanted, had)
where coalesce(wanted, 0) <> coalesce(had, 0)
