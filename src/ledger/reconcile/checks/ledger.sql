-- Every ledger line: by its causing event, its account and its parties.
select 'event ' || event_id || ' ' || account || ' merchant ' || merch_id || ' publisher ' || pub_id
    || ' article ' || article_id as key,
  case when expected.day is distinct from found.day then 'day' else 'amount_micros' end
    as column_name,
  case when expected.day is distinct from found.day
    then expected.day::text else expected.amount::text end as expected,
  case when expected.day is distinct from found.day
    then found.day::text else found.amount::text end as found,
  coalesce(found.kind, 'event') || ' ' || event_id as cause
from (
  select event_id, account, merch_id, pub_id, article_id, day, sum(amount) as amount
  from r_ledger
  where day between (select day_from from r_range) and (select day_to from r_range)
  group by event_id, account, merch_id, pub_id, article_id, day
) as expected
full join (
  select event_id, account, merch_id, pub_id, article_id, line.day, sum(amount_micros) as amount,
    min(kind) as kind
  from ledger_line line join ledger_transaction using (transaction_id)
  where line.day between (select day_from from r_range) and (select day_to from r_range)
  group by event_id, account, merch_id, pub_id, article_id, line.day
) as found using (event_id, account, merch_id, pub_id, article_id)
where (expected.day, coalesce(expected.amount, 0)) is distinct from
  (found.day, coalesce(found.amount, 0))
  and (coalesce(expected.amount, 0), coalesce(found.amount, 0)) <> (0, 0)
union all
-- Each transaction by itself: it sums to zero, and its own day and event are those of its lines.
select idempotency_key, 'sum', '0', sum(amount_micros)::text, 'transaction ' || transaction_id
from ledger_transaction entry join ledger_line line using (transaction_id)
where entry.day between (select day_from from r_range) and (select day_to from r_range)
group by transaction_id, idempotency_key having sum(amount_micros) <> 0
union all
select distinct idempotency_key, 'day', line.day::text, entry.day::text,
  'transaction ' || transaction_id
from ledger_transaction entry join ledger_line line using (transaction_id)
where line.day between (select day_from from r_range) and (select day_to from r_range)
  and (entry.day <> line.day
    or not exists (select from event where event.day = line.day and event.id = entry.event_id))
