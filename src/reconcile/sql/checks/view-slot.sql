-- Views of a publisher's articles are sums of the views of their pages, from the day on which the
-- article was created.
select slot || ' publisher ' || pub_id as key, 'impressions' as column_name,
  coalesce(summed.impressions, 0)::text as expected, coalesce(found.impressions, 0)::text as found,
  'page impressions of ' || slot as cause
from (
  select pub_id, slot, sum(impressions) as impressions
  from page_slot join article using (pub_id, url_key)
  where slot >= pg_temp.time_from() and slot < pg_temp.time_to()
    and slot >= date_trunc('day', article.datetime_created, 'UTC')
  group by 1, 2
) as summed
full join (
  select * from view_slot where slot >= pg_temp.time_from() and slot < pg_temp.time_to()
) as found using (pub_id, slot)
where coalesce(summed.impressions, 0) <> coalesce(found.impressions, 0)
