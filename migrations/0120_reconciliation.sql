-- What each night's reconciliation came to: known to every worker and to `souk doctor`, and still
-- known after a restart.
create table reconciliation (
  at timestamptz primary key,
  from_day date not null,
  to_day date not null,
  events bigint not null,
  differences integer not null
);
