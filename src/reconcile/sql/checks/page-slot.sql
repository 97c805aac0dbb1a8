-- Page views by quarter of an hour. Signed totals of deleted views have no time of day: on their
-- days the sums are compared.
select slot || ' publisher ' || pub_id || ' page ' || encode(url_key, 'hex') as key,
  'impressions' as column_name, coalesce(logged.impressions, 0)::text as expected,
  coalesce(found.impressions, 0)::text as found, 'page impressions of ' || slot as cause
from (
  select pub_id, url_key, quarter_hour(at) as slot, count(*) as impressions from r_session
  where day between pg_temp.day_from() and pg_temp.day_to()
  group by 1, 2, 3
) as logged
full join (
  select * from page_slot where slot >= pg_temp.time_from() and slot < pg_temp.time_to()
) as found using (pub_id, url_key, slot)
where logged.impressions is distinct from found.impressions
  and (slot at time zone 'UTC')::date not in (select day from r_totalled)
union all
select day || ' publisher ' || pub_id || ' page ' || encode(url_key, 'hex'), 'impressions',
  coalesce(daily.impressions, 0)::text, coalesce(found.impressions, 0)::text,
  'page impressions of ' || day
from (
  select pub_id, url_key, day, impressions from r_page_day
  where day in (select day from r_totalled) and impressions <> 0
) as daily
full join (
  select pub_id, url_key, (slot at time zone 'UTC')::date as day, sum(impressions) as impressions
  from page_slot
  where slot >= pg_temp.time_from() and slot < pg_temp.time_to()
    and (slot at time zone 'UTC')::date in (select day from r_totalled)
  group by 1, 2, 3
) as found using (pub_id, url_key, day)
where daily.impressions is distinct from found.impressions
