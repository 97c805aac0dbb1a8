-- Link impressions by link and day.
select day || ' publisher ' || pub_id || ' link ' || auction_id as key,
  compared.name as column_name,
  coalesce(wanted, 0)::text as expected, coalesce(had, 0)::text as found,
  'link impressions of ' || day as cause
from r_link_day logged
full join (
  select * from link_day
  where day between pg_temp.day_from() and pg_temp.day_to()
) as found using (pub_id, auction_id, day)
cross join lateral (
  values ('impressions', logged.impressions, found.impressions),
    ('viewable_impressions', logged.viewable_impressions, found.viewable_impressions)
) as compared (name, wanted, had)
where coalesce(wanted, 0) <> coalesce(had, 0)
