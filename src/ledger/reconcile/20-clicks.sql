-- Every click of the log judged again: the first reserved one of its result, of a lease that is
-- there, and was neither closed nor found lost before, and within the rules of a visitor
-- (economics 2.5).

create temp table r_click_event on commit drop as
select seq, id, day, at, reason as edge_reason, pub_id, coalesce(merch_id, 0) as merch_id,
  auction_id, result_number, campaign_id, model, coalesce(price_micros, 0) as price_micros,
  coalesce(share_ppm, 0) as share_ppm, lease_id, click_id, visitor_key, session_key,
  reason = 0 and seq = min(seq) filter (where reason = 0) over (partition by result_number)
    as is_first
from event
where lane = 0 and type = 10 and seq <= (select position from lane where lane = 0);

-- The node's last message closes its leases.
create temp table r_last_word on commit drop as
select min(seq) as seq, (body->>'node_id')::int as node_id,
  (body->>'incarnation')::bigint as incarnation
from event
where lane = 0 and type = 11 and seq <= (select position from lane where lane = 0)
group by 2, 3;

create temp table r_candidate on commit drop as
select click.seq, visitor_key, coalesce(campaign_id, 0) as campaign_id, at, auction_id,
  is_late,
  row_number() over (
    partition by visitor_key, coalesce(campaign_id, 0), is_late order by click.seq
  ) as n
from r_click_event click
left join lease using (lease_id, campaign_id)
left join r_last_word word
  on word.node_id = lease.node_id and word.incarnation = lease.incarnation and word.seq < click.seq
cross join lateral (
  select click.lease_id is not null and (
    lease.node_id is null or word.seq is not null or coalesce(lost_seq <= click.seq, false)
  ) as is_late
) as late
where is_first;
create index on r_candidate (visitor_key, campaign_id, n) where not is_late;
analyze r_candidate (seq, visitor_key, campaign_id, n, is_late);

-- Visitors one click at a time: what came before decides, and only valid clicks count.
create temp table r_visit on commit drop as
with recursive visit as (
  select seq, visitor_key, campaign_id, n, 0 as reason, array[at] as valid_at,
    array[auction_id] as valid_auction
  from r_candidate where n = 1 and not is_late and visitor_key is not null
  union all
  select next.seq, next.visitor_key, next.campaign_id, next.n, verdict.reason,
    case when verdict.reason = 0 then valid_at || next.at else valid_at end,
    case when verdict.reason = 0 then valid_auction || next.auction_id else valid_auction end
  from visit
  join r_candidate next on next.visitor_key = visit.visitor_key
    and next.campaign_id = visit.campaign_id and next.n = visit.n + 1 and not next.is_late
  cross join lateral (
    select case
      when count(*) filter (
        where earlier.auction_id = next.auction_id
          and abs(extract(epoch from next.at - earlier.at)) < 1800
      ) > 0 then 21
      when next.campaign_id <> 0
        and count(*) filter (where abs(extract(epoch from next.at - earlier.at)) < 3600) >= 5
        then 22
      else 0
    end as reason
    from unnest(valid_at, valid_auction) as earlier (at, auction_id)
  ) as verdict
)
select seq, reason from visit;

create temp table r_reversal on commit drop as
select distinct on (body->>'click_id') seq, id, day, at,
  decode(body->>'click_id', 'hex') as click_id, body->>'reason' as reason
from event
where lane = 0 and type = 14 and seq <= (select position from lane where lane = 0)
  and exists (
    select from r_click_event click
    where click.click_id = decode(event.body->>'click_id', 'hex') and click.seq < event.seq
  )
order by body->>'click_id', seq;

create temp table r_click on commit drop as
select judged.*, coalesce(link.article_id, 0) as article_id,
  case when judged.reason = 0 and model = 1 then price_micros else 0 end as paid_micros,
  case when judged.reason = 0 and model = 1
    then div(price_micros::numeric * share_ppm, 1000000)::bigint else 0
  end as publisher_micros,
  reversal.seq as reversal_seq, reversal.id as reversal_id, reversal.day as reversal_day,
  reversal.at as reversed_at, reversal.reason as reverse_reason
from (
  select click.*, case
      when edge_reason <> 0 then edge_reason
      when not click.is_first then 20
      when candidate.is_late then 12
      else coalesce(visit.reason, 0)
    end::smallint as reason
  from r_click_event click
  left join r_candidate candidate using (seq)
  left join r_visit visit using (seq)
) as judged
left join smart_link link using (auction_id)
left join r_reversal reversal using (click_id);
create index on r_click (click_id);
create index on r_click (reversal_id) where reversal_id is not null;
analyze r_click (seq, click_id, merch_id, reversal_id);
