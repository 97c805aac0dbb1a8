-- Every ledger line: by its causing event, its account and its parties.
select 'event ' || event_id || ' ' || account || ' merchant ' || merch_id || ' publisher ' || pub_id
    || ' article ' || article_id as key,
  case when wanted is distinct from had then 'amount_micros' else 'day' end as column_name,
  case when wanted is distinct from had then wanted::text else expected.day::text end as expected,
  case when wanted is distinct from had then had::text else found.day::text end as found,
  coalesce(found.kind, 'event') || ' ' || event_id as cause
from (
  select event_id, merch_id, pub_id, article_id, day, sum(merchant) as merchant,
    sum(publisher) as publisher, sum(platform) as platform, sum(bank) as bank
  from r_ledger
  where day between pg_temp.day_from() and pg_temp.day_to()
  group by event_id, merch_id, pub_id, article_id, day
) as expected
full join (
  select event_id, merch_id, pub_id, article_id, line.day, min(kind) as kind,
    coalesce(sum(amount_micros) filter (where account = 'merchant'), 0) as merchant,
    coalesce(sum(amount_micros) filter (where account = 'publisher'), 0) as publisher,
    coalesce(sum(amount_micros) filter (where account = 'platform'), 0) as platform,
    coalesce(sum(amount_micros) filter (where account = 'bank'), 0) as bank
  from ledger_line line join ledger_transaction using (transaction_id)
  where line.day between pg_temp.day_from() and pg_temp.day_to()
  group by event_id, merch_id, pub_id, article_id, line.day
) as found using (event_id, merch_id, pub_id, article_id)
cross join lateral (
  values ('merchant', expected.merchant, found.merchant),
    ('publisher', expected.publisher, found.publisher),
    ('platform', expected.platform, found.platform), ('bank', expected.bank, found.bank)
) as compared (account, wanted, had)
where (expected.day, expected.merchant, expected.publisher, expected.platform, expected.bank)
    is distinct from (found.day, found.merchant, found.publisher, found.platform, found.bank)
  and (coalesce(wanted, 0) <> coalesce(had, 0)
    or (expected.day <> found.day and wanted <> 0))
union all
-- Each transaction on its own: it sums to zero, and its day is the day of its lines. No foreign key
-- connects a line to its entry, so this check finds a missing one.
select coalesce(idempotency_key, 'no entry'), case when is_unbalanced then 'sum' else 'day' end,
  case when is_unbalanced then '0' else first_day::text end,
  case when is_unbalanced then total::text else coalesce(day::text, 'no entry') end,
  'transaction ' || transaction_id
from (
  select transaction_id, sum(amount_micros) as total, sum(amount_micros) <> 0 as is_unbalanced,
    min(day) as first_day, max(day) as last_day
  from ledger_line
  where day between pg_temp.day_from() and pg_temp.day_to()
  group by transaction_id
) as summed
left join ledger_transaction using (transaction_id)
where is_unbalanced or (first_day = day and last_day = day) is not true
union all
-- A correction names an existing entry; any other entry names none.
select idempotency_key, 'corrects', case when is_correction then 'an entry' end, corrects,
  kind || ' ' || event_id
from ledger_transaction entry
cross join lateral (select kind not in ('click', 'order', 'payment') as is_correction) as sort
where day between pg_temp.day_from() and pg_temp.day_to()
  and case
    when is_correction then not exists (
      select from ledger_transaction named where named.idempotency_key = entry.corrects)
    else corrects is not null
  end
