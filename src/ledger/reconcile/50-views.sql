-- Page, link and placement impressions counted again, for the days asked about.

-- The first event of a session counts. The keys of sessions are thrown away after 30 days, so one
-- that began earlier cannot come again.
create temp table r_session on commit drop as
select distinct on (pub_id, session_key) pub_id, session_key, day, url_key, reason
from event join lane using (lane)
where lane > 0 and type = 1 and seq <= position
  and day between (select day_from - 30 from r_range) and (select day_to from r_range)
order by pub_id, session_key, seq;

create temp table r_page_day on commit drop as
select pub_id, url_key, day, count(*) filter (where reason = 0) as impressions,
  count(*) filter (where reason <> 0) as robot_impressions
from r_session
where day between (select day_from from r_range) and (select day_to from r_range)
group by pub_id, url_key, day;

create temp table r_link_day on commit drop as
select pub_id, auction_id, day, count(*) filter (where type = 2) as impressions,
  count(*) filter (where type = 3) as viewable_impressions
from event join lane using (lane)
where lane > 0 and type in (2, 3) and reason = 0 and seq <= position
  and day between (select day_from from r_range) and (select day_to from r_range)
group by pub_id, auction_id, day;

create temp table r_placement on commit drop as
select day, pub_id, coalesce(link.article_id, 0) as article_id, merch_id, count(*) as placements
from event join lane using (lane)
left join (select auction_id, article_id from smart_link) link using (auction_id)
where lane > 0 and type = 4 and reason = 0 and merch_id <> 0 and seq <= position
  and day between (select day_from from r_range) and (select day_to from r_range)
group by 1, 2, 3, 4;
