-- Events that the fold could not book for a mistake of the program's: they stay in the log, stop
-- nothing that came after them, and are folded again at the next start.
create table unfolded_event (
  lane smallint not null,
  seq bigint not null,
  event_id bigint not null,
  day date not null,
  error text not null,
  at timestamptz not null default now(),
  primary key (lane, seq)
);
