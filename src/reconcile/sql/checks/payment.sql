-- Every recorded payment.
select merch_id || ' ' || reference as key,
  compared.name as column_name, wanted as expected, had as found,
  'payment event ' || coalesce(logged.id, found.event_id) as cause
from (
  select logged.*, back.id as reversal_id, back.at as reversed_at,
    back.reason as reverse_reason
  from r_payment logged left join r_payment_back back on payment_id = logged.id
) as logged
full join merchant_payment found using (merch_id, reference)
cross join lateral (
  values ('event_id', logged.id::text, found.event_id::text),
    ('amount_micros', logged.amount_micros::text, found.amount_micros::text),
    ('paid_on', logged.paid_on::text, found.paid_on::text),
    ('day', logged.day::text, found.day::text), ('at', logged.at::text, found.at::text),
    ('reversal_event_id', logged.reversal_id::text, found.reversal_event_id::text),
    ('reversed_at', logged.reversed_at::text, found.reversed_at::text),
    ('reverse_reason', logged.reverse_reason, found.reverse_reason)
) as compared (name, wanted, had)
where wanted is distinct from had
  and coalesce(logged.day, found.day)
    between pg_temp.day_from() and pg_temp.day_to()
