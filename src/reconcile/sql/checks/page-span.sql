-- Page views of 7 and 28 days are sums of the daily ones: every span with a requested day.
select first_day || ', ' || width || ' days, publisher ' || pub_id
    || ' page ' || encode(url_key, 'hex') as key,
  'impressions' as column_name, coalesce(summed.impressions, 0)::text as expected,
  coalesce(found.impressions, 0)::text as found, 'daily totals' as cause
from (
  select pub_id, width, span_begin(day, width) as first_day, url_key,
    sum(impressions) as impressions
  from page_day cross join (values (7), (28)) as span (width)
  where day >= greatest(pg_temp.day_from(), '1970-01-01') - 27
    and day <= least(pg_temp.day_to(), '9999-01-01') + 27
    and span_begin(day, width) <= pg_temp.day_to()
    and span_begin(day, width) + width > pg_temp.day_from()
  group by 1, 2, 3, 4
) as summed
full join (
  select * from page_span
  where first_day <= pg_temp.day_to() and first_day + width > pg_temp.day_from()
) as found using (pub_id, width, first_day, url_key)
where coalesce(summed.impressions, 0) <> coalesce(found.impressions, 0)
