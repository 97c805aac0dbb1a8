-- Payouts that the operator has confirmed as paid, the list of reversed clicks, and the age of rates.
create table paid_payout (
  pub_id integer not null,
  month date not null,
  paid_on date not null,
  reference text,
  confirmed_at timestamptz not null,
  primary key (pub_id, month),
  foreign key (pub_id, month) references statement
);
create index click_reversal on click (reversal_event_id) where reversal_event_id is not null;
-- Rates from before get the start of the day on which they were published.
alter table exchange_rate add column datetime_created timestamptz;
update exchange_rate set datetime_created = day::timestamp at time zone 'UTC';
alter table exchange_rate
  alter column datetime_created set not null,
  alter column datetime_created set default now();
