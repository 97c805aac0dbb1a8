-- Returns may name an amount instead of units.
alter table order_return add column amount text, add column currency text;

-- What was accepted with warnings stands beside what was refused.
alter table refused_intake add column is_accepted boolean not null default false;

-- How often orders and returns of a merchant were accepted with a warning, by kind and day.
create table intake_warning (
  merch_id integer not null references merchant,
  day date not null,
  kind text not null,
  count bigint not null,
  primary key (merch_id, day, kind)
);
