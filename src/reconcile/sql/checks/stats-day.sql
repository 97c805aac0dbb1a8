-- Every daily figure, column by column.
select day || ' publisher ' || pub_id || ' article ' || article_id
    || ' merchant ' || merch_id as key,
  compared.name as column_name, wanted::text as expected, had::text as found,
  coalesce('sum over ' || events || ' events: ' || array_to_string(event_ids, ', ')
    || case when events > 5 then ', …' else '' end, 'no event') as cause
from r_stats expected
full join (
  select * from stats_day
  where day between pg_temp.day_from() and pg_temp.day_to()
) as found using (day, pub_id, article_id, merch_id)
cross join lateral (
  values ('clicks', expected.clicks, found.clicks),
    ('invalid_clicks', expected.invalid_clicks, found.invalid_clicks),
    ('is_row', expected.is_row::int, found.is_row::int),
    ('placements', expected.placements, found.placements),
    ('sales', expected.sales, found.sales),
    ('revenue_micros', expected.revenue_micros, found.revenue_micros),
    ('earnings_micros', expected.earnings_micros, found.earnings_micros)
) as compared (name, wanted, had)
where coalesce(wanted, 0) <> coalesce(had, 0)
