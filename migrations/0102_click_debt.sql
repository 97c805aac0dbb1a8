-- What each merchant owes a publisher for a day's clicks, kept by the fold beside the entries. Each
-- page of a report of orders settles merchants' debts: two seconds per merchant where it was added
-- up from the entries of two million paid clicks.
create table click_debt (
  merch_id int not null,
  pub_id int not null,
  day date not null,
  cost_micros bigint not null,
  earnings_micros bigint not null,
  primary key (merch_id, pub_id, day)
);
create index click_debt_publisher on click_debt (pub_id, merch_id);
insert into click_debt
select merch_id, pub_id, line.day,
  -coalesce(sum(amount_micros) filter (where account = 'merchant'), 0),
  coalesce(sum(amount_micros) filter (where account = 'publisher'), 0)
from ledger_line line join ledger_transaction using (transaction_id)
where kind in ('click', 'reversal')
group by merch_id, pub_id, line.day;
