-- Events that come by way of JetStream (NATS_URL): how far its stream has been carried into
-- table event. Committed with the events themselves, so each is carried once.

create table stream_position (
  stream text not null,
  created text not null, -- of the stream: one made anew counts its messages from 1 again
  position bigint not null default 0, -- the last message whose events are in the log
  primary key (stream, created)
);

-- Where a day's first carried message was, so that the stream can be cut days later.
create table stream_day (
  stream text not null,
  created text not null,
  day date not null default current_date,
  position bigint not null,
  primary key (stream, created, day),
  foreign key (stream, created) references stream_position on delete cascade
);

-- What came by a stream and the log will never take. Kept for a person; normally empty.
create table refused_event (
  stream text not null,
  created text not null,
  position bigint not null,
  event text not null,
  error text not null,
  at timestamptz not null default now()
);
