-- A node reports what the results that it handed out will probably still cost, in one figure.
alter table lease
  drop column expected_clicks,
  drop column open_wins,
  add column in_flight_micros bigint not null default 0;
