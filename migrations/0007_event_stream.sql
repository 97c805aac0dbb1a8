-- Events that arrive through JetStream (NATS_URL).

-- The position up to which a stream was copied into the log. Committed with the events, so that
-- each event is copied once.
create table stream_position (
  stream text not null,
  created text not null, -- of the stream: a stream created again numbers its messages from 1
  position bigint not null default 0, -- the last message whose events are in the log
  -- Hash of that message. A stream that lost its newest messages, in a power cut or a restore,
  -- assigns their numbers again. null: no message was copied yet.
  digest bytea,
  primary key (stream, created)
);

-- The position of a day's first message, so that the stream can be cut days later.
create table stream_day (
  stream text not null,
  created text not null,
  day date not null default current_date,
  position bigint not null,
  primary key (stream, created, day),
  foreign key (stream, created) references stream_position on delete cascade
);

-- Messages that the log can never accept, stored for a person to examine. Normally empty.
create table refused_event (
  stream text not null,
  created text not null,
  position bigint not null,
  event text not null,
  error text not null,
  at timestamptz not null default now()
);
