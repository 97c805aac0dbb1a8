-- Every click of the log judged again, from the rules in docs/spec/clicks.md#rules: the first
-- reserved click of its result, on a lease that is there and was neither closed nor found lost
-- before, within the reader, scanner and address rules.

create temp table r_click_event on commit drop as
select seq, id, day, at, reason as edge_reason, pub_id, coalesce(merch_id, 0) as merch_id,
  auction_id, result_number, campaign_id, model, coalesce(terms_amount, 0) as terms_amount,
  coalesce(share_ppm, 0) as share_ppm, lease_id, click_id, visitor_key, session_key, agent_key,
  case when agent_key is not null then address_key end as address_key,
  coalesce(visitor_returned = 1, false) as is_returned, address_hour_max, address_day_max,
  coalesce(device, 0) as device, coalesce(country, '') as country, coalesce(u1, '') as u1,
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
select click.seq, at, coalesce(campaign_id, 0) as campaign_id, auction_id, visitor_key, agent_key,
  address_key, is_returned, address_hour_max, address_day_max, is_late
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
analyze r_candidate (seq, visitor_key, agent_key, address_key, is_late);

-- Clicks with so few others near them that no rule can refuse them, whatever the others come to,
-- are valid without a look at each. First, cheaply, those with another click of the same visitor or
-- address unit within an hour, and all of an address unit with more clicks than a day may have.
create temp table r_near_visitor on commit drop as
select seq, at, campaign_id, visitor_key, is_returned or agent_key is null as is_by_visitor
from (
  select *, lag(at) over visitor as before, lead(at) over visitor as after
  from r_candidate where not is_late and visitor_key is not null
  window visitor as (partition by visitor_key order by at)
) as placed
where at - before < interval '1 hour' or after - at < interval '1 hour';
create temp table r_near_address on commit drop as
select seq, at, campaign_id, agent_key, address_key, is_returned, address_hour_max,
  address_day_max
from (
  select *, lag(at) over address as before, lead(at) over address as after,
    count(*) over whole as clicks, min(address_day_max) over whole as least_day_max
  from r_candidate where not is_late and address_key is not null
  window address as (partition by address_key order by at), whole as (partition by address_key)
) as placed
where at - before < interval '1 hour' or after - at < interval '1 hour'
  or clicks > least_day_max;
-- Then by the rules' own windows, of all clicks in them, valid or not.
create temp table r_near on commit drop as
select seq, is_by_visitor and count(*) over (
    partition by visitor_key, campaign_id order by at
    range between interval '1 hour' preceding and interval '1 hour' following
  ) > 1 as is_doubtful
from r_near_visitor
union all
select seq, not is_returned and (of_agent > 1 or of_scan > 3)
  or of_hour > address_hour_max or of_day > address_day_max
from (
  select seq, is_returned, address_hour_max, address_day_max,
    count(*) over (partition by agent_key, campaign_id order by at
      range between interval '1 hour' preceding and interval '1 hour' following) as of_agent,
    count(*) over (partition by agent_key order by at
      range between interval '10 seconds' preceding and interval '10 seconds' following) as of_scan,
    count(*) over (partition by address_key, campaign_id order by at
      range between interval '1 hour' preceding and interval '1 hour' following) as of_hour,
    count(*) over (partition by address_key, campaign_id order by at
      range between interval '1 day' preceding and interval '1 day' following) as of_day
  from r_near_address
) as counted;

create temp table r_doubtful on commit drop as
select distinct seq from r_near where is_doubtful;
create unique index on r_doubtful (seq);
analyze r_doubtful;

-- The valid clicks that a doubtful one may meet: at first those that are not doubtful themselves.
create temp table r_valid on commit drop as
select seq, at, campaign_id, auction_id, visitor_key, agent_key, address_key, is_returned
from r_candidate candidate
where not is_late and not exists (select from r_doubtful where seq = candidate.seq) and (
  visitor_key in (select visitor_key from r_candidate join r_doubtful using (seq))
  or address_key in (select address_key from r_candidate join r_doubtful using (seq))
);
create index on r_valid (visitor_key, campaign_id, at);
create index on r_valid (agent_key, campaign_id, at);
create index on r_valid (agent_key, at) where not is_returned;
create index on r_valid (address_key, campaign_id, at);
analyze r_valid;

create temp table r_refused (seq bigint, reason smallint) on commit drop;

-- One doubtful click after the other, as the log has them: only the valid ones before it count.
do $judge$
declare
  click record;
  verdict smallint;
  clicks integer;
begin
  -- A plan that is made while the table is small would read all of it when it has grown.
  set local enable_seqscan = off;
  for click in
    select r_candidate.*, agent_key is not null and not is_returned as is_by_address
    from r_candidate join r_doubtful using (seq) order by seq
  loop
    verdict := 0;
    if click.is_by_address then
      perform from r_valid
      where agent_key = click.agent_key and campaign_id = click.campaign_id
        and at > click.at - interval '30 minutes' and at < click.at + interval '30 minutes'
        and auction_id = click.auction_id and seq < click.seq;
    else
      perform from r_valid
      where visitor_key = click.visitor_key and campaign_id = click.campaign_id
        and at > click.at - interval '30 minutes' and at < click.at + interval '30 minutes'
        and auction_id = click.auction_id and seq < click.seq;
    end if;
    if found then verdict := 21; end if;
    if verdict = 0 and click.campaign_id <> 0 then
      if click.is_by_address then
        select count(*) into clicks from r_valid
        where agent_key = click.agent_key and campaign_id = click.campaign_id
          and at > click.at - interval '1 hour' and at < click.at + interval '1 hour'
          and seq < click.seq;
      else
        select count(*) into clicks from r_valid
        where visitor_key = click.visitor_key and campaign_id = click.campaign_id
          and at > click.at - interval '1 hour' and at < click.at + interval '1 hour'
          and seq < click.seq;
      end if;
      if clicks >= 5 then verdict := 22; end if;
    end if;
    if verdict = 0 and click.is_by_address then
      select count(*) into clicks from r_valid
      where agent_key = click.agent_key and not is_returned
        and at > click.at - interval '10 seconds' and at < click.at + interval '10 seconds'
        and seq < click.seq;
      if clicks >= 3 then verdict := 24; end if;
    end if;
    if verdict = 0 and click.address_key is not null then
      select case
          when count(*) >= click.address_day_max or count(*) filter (
            where at > click.at - interval '1 hour' and at < click.at + interval '1 hour'
          ) >= click.address_hour_max then 25
          else 0
        end into verdict
      from r_valid
      where address_key = click.address_key and campaign_id = click.campaign_id
        and at > click.at - interval '1 day' and at < click.at + interval '1 day'
        and seq < click.seq;
    end if;
    if verdict = 0 then
      insert into r_valid values (click.seq, click.at, click.campaign_id, click.auction_id,
        click.visitor_key, click.agent_key, click.address_key, click.is_returned);
    else
      insert into r_refused values (click.seq, verdict);
    end if;
  end loop;
  set local enable_seqscan = on;
end $judge$;
create unique index on r_refused (seq);
analyze r_refused;

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
  case when judged.reason = 0 and model = 1 then terms_amount else 0 end as merchant_cost_micros,
  case when judged.reason = 0 and model = 1
    then div(terms_amount::numeric * share_ppm, 1000000)::bigint else 0
  end as publisher_earnings_micros,
  reversal.seq as reversal_seq, reversal.id as reversal_id, reversal.day as reversal_day,
  reversal.at as reversed_at, reversal.reason as reverse_reason
from (
  select click.*, case
      when edge_reason <> 0 then edge_reason
      when not click.is_first then 20
      when candidate.is_late then 12
      else coalesce(refused.reason, 0)
    end::smallint as reason
  from r_click_event click
  left join r_candidate candidate using (seq)
  left join r_refused refused using (seq)
) as judged
left join smart_link link using (auction_id)
left join r_reversal reversal using (click_id);
create index on r_click (click_id);
create index on r_click (reversal_id) where reversal_id is not null;
analyze r_click (seq, click_id, merch_id, reversal_id);
