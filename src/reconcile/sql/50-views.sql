-- Recounts page, link and placement impressions of the requested days, from the log and from the
-- signed totals of deleted views.

-- Totals also cover the 30 days after the deleted ones, because only the deleted events show which
-- of those sessions had started before. A view instead of a table: queries on temporary tables
-- cannot run in parallel.
create temp view r_totalled as
select day, lane, seq as until, events from view_day
where day between pg_temp.day_from() and pg_temp.day_to()
  and day <= (select max(day) + 30 from view_day where state <> 'written');
create temp table r_total on commit drop as
select total.* from view_total total join r_totalled using (day, lane);

-- The first event of a session counts; robots have none. Session keys are deleted after 30 days, so
-- events further apart belong to two sessions.
create temp table r_session on commit drop as
select distinct on (pub_id, session_key) pub_id, session_key, day, at, url_key, lane, seq
from event join lane using (lane)
where lane > 0 and type = 1 and reason = 0 and seq <= position
  and day between pg_temp.day_from() - 30 and pg_temp.day_to() + 30
order by pub_id, session_key, seq;

create temp table r_page_day on commit drop as
select pub_id, url_key, day, coalesce(sum(counted) filter (where reason = 0), 0) as impressions,
  coalesce(sum(counted) filter (where reason <> 0), 0) as robot_impressions
from (
  select pub_id, url_key, day, reason, 1 as counted
  from (
    select pub_id, url_key, day, 0 as reason, lane, seq from r_session
    union all
    select pub_id, url_key, day, reason, lane, seq from event join lane using (lane)
    where lane > 0 and type = 1 and reason <> 0 and seq <= position
  ) as viewed left join r_totalled using (day, lane)
  where (until is null or seq > until)
    and day between pg_temp.day_from() and pg_temp.day_to()
  union all
  select pub_id, url_key, day, reason, counted from r_total where type = 1 and counted > 0
) as seen
group by pub_id, url_key, day;

create temp table r_seen on commit drop as
select day, type, pub_id, auction_id, merch_id, count(*) as events
from event join lane using (lane) left join r_totalled using (day, lane)
where lane > 0 and type in (2, 3, 4) and reason = 0 and seq <= position
  and (until is null or seq > until)
  and day between pg_temp.day_from() and pg_temp.day_to()
group by day, type, pub_id, auction_id, merch_id
union all
select day, type, pub_id, auction_id, merch_id, events from r_total
where type in (2, 3, 4) and reason = 0;

create temp table r_link_day on commit drop as
select pub_id, auction_id, day, coalesce(sum(events) filter (where type = 2), 0) as impressions,
  coalesce(sum(events) filter (where type = 3), 0) as viewable_impressions
from r_seen join smart_link using (pub_id, auction_id)
where type in (2, 3)
group by pub_id, auction_id, day;

create temp table r_placement on commit drop as
select day, pub_id, coalesce(link.article_id, 0) as article_id, merch_id,
  sum(events)::bigint as placements
from r_seen left join (select auction_id, article_id from smart_link) link using (auction_id)
where type = 4 and merch_id <> 0
group by 1, 2, 3, 4;
