-- The state of the fold at a moment: a worker writes one every five minutes, and deletes it after a
-- day.
create table health_sample (
  at timestamptz primary key,
  lag_seconds real not null, -- age of the oldest event that was not folded yet
  events_waiting integer not null, -- events that were not folded yet, at most 100,000
  nodes_alive integer not null -- servers with a recent heartbeat
);
