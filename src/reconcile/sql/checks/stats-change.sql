-- The changes that as_of sums must give the same figures, and exist where an event created a row
-- without moving a figure.
select day || ' publisher ' || pub_id || ' article ' || article_id || ' merchant ' || merch_id
    as key,
  compared.name as column_name, wanted::text as expected, had::text as found,
  coalesce('sum over ' || events || ' events: ' || array_to_string(event_ids, ', ')
    || case when events > 5 then ', …' else '' end, 'no event') as cause
from r_stats expected
full join (
  select day, pub_id, article_id, merch_id, sum(clicks) as clicks, sum(sales) as sales,
    sum(revenue_micros) as revenue_micros, sum(earnings_micros) as earnings_micros,
    true as is_changed
  from stats_change
  where day between pg_temp.day_from() and pg_temp.day_to()
  group by day, pub_id, article_id, merch_id
) as found using (day, pub_id, article_id, merch_id)
cross join lateral (
  values ('clicks', expected.clicks, found.clicks), ('sales', expected.sales, found.sales),
    ('revenue_micros', expected.revenue_micros, found.revenue_micros),
    ('earnings_micros', expected.earnings_micros, found.earnings_micros),
    ('is_changed', expected.is_changed::int, found.is_changed::int)
) as compared (name, wanted, had)
where coalesce(wanted, 0) <> coalesce(had, 0)
