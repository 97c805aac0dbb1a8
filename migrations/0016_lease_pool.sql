-- What a node last said of its lease: nodes judge together whether wins in flight can be paid.
alter table lease
  add column spent_micros bigint not null default 0, -- reserved so far, folded or not
  add column expected_clicks double precision not null default 0, -- still to come of its wins
  add column open_wins integer not null default 0; -- whose click may still come
