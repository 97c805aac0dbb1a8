-- Every return as reported, and whether it could be placed.
with latest as (
  select merch_id, order_id, max(n) as n from r_target group by merch_id, order_id
)
select merch_id || ' ' || order_id || ' ' || return_id as key, compared.name as column_name,
  wanted as expected, had as found, 'return event ' || coalesce(told.id, found.event_id) as cause
from (
  select goods.*, event.day, event.at,
    timestamptz 'epoch' + (event.body->>'returned_at_ms')::bigint * interval '1 millisecond'
      as returned_at,
    case when latest.n is null then 'waiting' when placed.is_applied then 'applied'
      else 'refused' end as state
  from r_return goods
  join r_told event using (seq)
  left join latest on latest.merch_id = goods.merch_id and latest.order_id = goods.order_id
  left join r_placed placed on placed.merch_id = goods.merch_id
    and placed.order_id = goods.order_id and placed.n = latest.n
    and placed.return_id = goods.return_id
) as told
full join order_return found using (merch_id, order_id, return_id)
cross join lateral (
  values ('event_id', told.id::text, found.event_id::text),
    ('day', told.day::text, found.day::text),
    ('accepted_at', told.at::text, found.accepted_at::text),
    ('returned_at', told.returned_at::text, found.returned_at::text),
    ('line', told.line::text, found.line::text),
    ('product_id', told.product_id, found.product_id),
    ('quantity', told.quantity::text, found.quantity::text),
    ('amount', told.amount, found.amount),
    ('currency', told.currency, found.currency),
    ('state', told.state, found.state)
) as compared (name, wanted, had)
where wanted is distinct from had
  and coalesce(told.day, found.day)
    between pg_temp.day_from() and pg_temp.day_to()
