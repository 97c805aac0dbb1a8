-- Feeds that merchants manage themselves: how often a source is fetched, and what each import did.
alter table feed_source
  add column every_hours integer default 6, -- null: only when somebody asks
  add column datetime_created timestamptz not null default now(),
  add column datetime_updated timestamptz not null default now();

create table feed_run (
  import_id bigint generated always as identity primary key,
  merch_id integer not null references merchant,
  source text not null check (source in ('url', 'upload', 'schedule', 'command')),
  is_dry_run boolean not null,
  state text not null check (state in ('receiving', 'waiting', 'fetching', 'importing', 'done', 'failed')),
  url text, -- without its password
  rows bigint not null default 0,
  bytes_read bigint not null default 0, -- of the file
  bytes_total bigint,
  result jsonb,
  error text,
  rejects_stored integer not null default 0,
  started_at timestamptz not null default now(),
  alive_at timestamptz not null default now(), -- its process says so while it works
  ended_at timestamptz
);
create index feed_run_merchant on feed_run (merch_id, import_id);

create table feed_reject (
  import_id bigint not null references feed_run on delete cascade,
  reject_id integer not null, -- 1, 2 … in the order of the feed
  line integer not null,
  sku text,
  field text,
  value text not null,
  reason text not null,
  detail text not null,
  primary key (import_id, reject_id)
);
