-- Page impressions by URL and day, and the sessions they were counted in.
select day || ' publisher ' || pub_id || ' page ' || encode(url_key, 'hex') as key,
  compared.name as column_name, coalesce(wanted, 0)::text as expected, coalesce(had, 0)::text as found,
  'page impressions of ' || day as cause
from r_page_day logged
full join (
  select * from page_day
  where day between pg_temp.day_from() and pg_temp.day_to()
) as found using (pub_id, url_key, day)
cross join lateral (
  values ('impressions', logged.impressions, found.impressions),
    ('robot_impressions', logged.robot_impressions, found.robot_impressions)
) as compared (name, wanted, had)
where coalesce(wanted, 0) <> coalesce(had, 0)
union all
select day || ' publisher ' || pub_id, 'page_session', logged.sessions::text, found.sessions::text,
  'page impressions of ' || day
from (
  select pub_id, day, count(*) as sessions from r_session
  where day between pg_temp.day_from() and pg_temp.day_to()
  group by pub_id, day
) as logged
full join (
  select pub_id, day, count(*) as sessions from page_session
  where day between pg_temp.day_from() and pg_temp.day_to()
  group by pub_id, day
) as found using (pub_id, day)
where logged.sessions is distinct from found.sessions
  -- Sessions are deleted once nothing can match them, the oldest day first.
  and day > (select min(day) from page_session)
  -- Totals do not contain sessions.
  and not exists (select from r_totalled where r_totalled.day = coalesce(logged.day, found.day))
