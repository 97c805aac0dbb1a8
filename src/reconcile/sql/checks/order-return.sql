-- Every return as reported, and whether it could be placed.
with latest as (
  select merch_id, order_id, max(n) as n from r_target group by merch_id, order_id
)
select merch_id || ' ' || order_id || ' ' || return_id as key, compared.name as column_name,
  wanted as expected, had as found, 'return event ' || coalesce(logged.id, found.event_id) as cause
from (
  select goods.*, event.day, event.at,
    timestamptz 'epoch' + (event.body->>'returned_at_ms')::bigint * interval '1 millisecond'
      as returned_at,
    case when latest.n is null then 'waiting' when placed.is_applied then 'applied'
      else 'refused' end as state
  from r_return goods
  join r_order_event event using (seq)
  left join latest on latest.merch_id = goods.merch_id and latest.order_id = goods.order_id
  left join r_placed placed on placed.merch_id = goods.merch_id
    and placed.order_id = goods.order_id and placed.n = latest.n
    and placed.return_id = goods.return_id
) as logged
full join order_return found using (merch_id, order_id, return_id)
cross join lateral (
  values ('event_id', logged.id::text, found.event_id::text),
    ('day', logged.day::text, found.day::text),
    ('accepted_at', logged.at::text, found.accepted_at::text),
    ('returned_at', logged.returned_at::text, found.returned_at::text),
    ('line', logged.line::text, found.line::text),
    ('product_id', logged.product_id, found.product_id),
    ('quantity', logged.quantity::text, found.quantity::text),
    ('amount', logged.amount, found.amount),
    ('currency', logged.currency, found.currency),
    ('state', logged.state, found.state)
) as compared (name, wanted, had)
where wanted is distinct from had
  and coalesce(logged.day, found.day)
    between pg_temp.day_from() and pg_temp.day_to()
