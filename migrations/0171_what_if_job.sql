-- Days run again under other settings, and what came of it, for a day.
create table what_if_job (
  job_id uuid primary key default gen_random_uuid(),
  uid integer not null references app_user,
  state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed')),
  auctions integer not null default 0, -- of the day
  auctions_done integer not null default 0,
  result jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null -- the node that runs it says so every few seconds
);
