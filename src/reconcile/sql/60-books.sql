-- The expected lines of ledger and statistics, with the events that caused them.

create temp table r_payment on commit drop as
select distinct on (merch_id, body->>'reference') seq, id, day, at, merch_id,
  body->>'reference' as reference, (body->>'paid_on')::date as paid_on,
  (body->>'amount_micros')::bigint as amount_micros
from event
where lane = 0 and type = 16 and seq <= (select position from lane where lane = 0)
order by merch_id, body->>'reference', seq;

-- Payment reversals: at most one each.
create temp table r_payment_back on commit drop as
select distinct on (payment.id) payment.id as payment_id, back.id, back.day, back.at,
  payment.merch_id, amount_micros, back.body->>'reason' as reason
from event back
join r_payment payment
  on payment.merch_id = back.merch_id and reference = back.body->>'reference'
    and payment.seq < back.seq
where back.lane = 0 and back.type = 18
  and back.seq <= (select position from lane where lane = 0)
order by payment.id, back.seq;

create temp table r_ledger on commit drop as
with earned as (
  select id as event_id, day, merch_id, pub_id, article_id, merchant_cost_micros as total,
    publisher_earnings_micros as part
  from r_click where merchant_cost_micros > 0
  union all
  select reversal_id, reversal_day, merch_id, pub_id, article_id, -merchant_cost_micros,
    -publisher_earnings_micros
  from r_click where merchant_cost_micros > 0 and reversal_id is not null
  union all
  select id, day, merch_id, pub_id, article_id, commission_micros, earnings_micros
  from r_change
)
select event_id, day, merch_id, pub_id, article_id, -total as merchant, part as publisher,
  total - part as platform, 0 as bank
from earned
union all
select id, day, merch_id, 0, 0, amount_micros, 0, 0, -amount_micros from r_payment
union all
select id, day, merch_id, 0, 0, -amount_micros, 0, 0, amount_micros from r_payment_back;

create temp table r_figure on commit drop as
select id as event_id, day, pub_id, article_id, merch_id, (reason = 0)::int as clicks,
  (reason <> 0)::int as invalid_clicks, 0::bigint as placements, 0::bigint as sales,
  0::bigint as revenue_micros, publisher_earnings_micros as earnings_micros, reason in (0,
    6) as is_row
from r_click
union all
select reversal_id, reversal_day, pub_id, article_id, merch_id, -1, 1, 0, 0, 0,
  -publisher_earnings_micros, true
from r_click where reversal_id is not null and reason = 0
union all
-- A repeated order that moves nothing creates no row, nor does one that moves only between
-- campaigns.
select id, day, pub_id, article_id, merch_id, 0, 0, 0, sum(sales)::bigint,
  sum(revenue_micros)::bigint, sum(earnings_micros)::bigint, true
from r_change group by id, day, pub_id, article_id, merch_id
having (sum(sales), sum(revenue_micros), sum(earnings_micros)) <> (0, 0, 0) or bool_or(is_new_row)
union all
select null, day, pub_id, article_id, merch_id, 0, 0, placements, 0, 0, 0, true
from r_placement;

create temp table r_stats on commit drop as
select day, pub_id, article_id, merch_id, sum(clicks) as clicks,
  sum(invalid_clicks) as invalid_clicks, sum(placements) as placements, sum(sales) as sales,
  sum(revenue_micros) as revenue_micros, sum(earnings_micros) as earnings_micros,
  bool_or(is_row) as is_row,
  coalesce(bool_or(is_row) filter (where event_id is not null), false) as is_changed,
  (array_agg(event_id order by event_id) filter (where event_id is not null))[1:5] as event_ids,
  count(event_id) as events
from r_figure
where day between pg_temp.day_from() and pg_temp.day_to()
group by day, pub_id, article_id, merch_id;
