-- What a reversal takes back is kept by the day of its click as well, so that it closes what is
-- still owed of that day: a debt that nobody paid would else have paid others.
truncate click_debt;
alter table click_debt add column click_day date not null,
  drop constraint click_debt_pkey,
  add primary key (merch_id, pub_id, day, click_day);
insert into click_debt (merch_id, pub_id, day, click_day, cost_micros, earnings_micros)
select line.merch_id, line.pub_id, line.day, coalesce(original.day, line.day),
  -coalesce(sum(amount_micros) filter (where account = 'merchant'), 0),
  coalesce(sum(amount_micros) filter (where account = 'publisher'), 0)
from ledger_line line
join ledger_transaction cause using (transaction_id)
left join ledger_transaction original on original.idempotency_key = cause.corrects
where cause.kind in ('click', 'reversal')
group by 1, 2, 3, 4;
