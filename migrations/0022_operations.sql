-- Scheduled jobs, deliveries of report files, and the nightly reconciliation.

-- The next run of each scheduled job, and the worker that runs it.
create table job (
  task text primary key,
  next_at timestamptz not null, -- infinity while it runs, or if its schedule has no next time
  worker text, -- null: nobody runs it
  leased_until timestamptz, -- another worker takes it over after this time
  started_at timestamptz, -- null: it never ran
  ended_at timestamptz, -- of the last run; null while it runs
  succeeded_at timestamptz, -- the end of the last run without an error
  error text, -- of the last run that ended; null: none
  failures integer not null default 0, -- since the last success
  check ((worker is null) = (leased_until is null))
);

-- Targets to which report files are delivered on schedule.
create table report_delivery (
  delivery_id integer generated always as identity primary key,
  pub_id integer not null references publisher,
  target text not null, -- a folder, or s3://bucket/prefix
  endpoint text, -- of S3-compatible storage, as the next three; null: a folder
  region text,
  access_key text,
  secret_key text,
  is_gzip boolean not null default false,
  -- Set by its publisher, through the API: the storage must have a public address.
  is_guarded boolean not null default false,
  requested_at timestamptz, -- somebody wants a run at once; null: nobody does
  delivered_at timestamptz, -- null: never
  error text, -- of the last run; null: none
  -- The start of the last run, whatever its result. Runs go in this order: otherwise a delivery
  -- that fails after an hour would always be first, and the others would never run.
  tried_at timestamptz
);
create unique index report_delivery_target on report_delivery (pub_id, target);

-- Pages that publishers let the worker check in a browser, and what it found (src/check-page/).
create table tag_check (
  check_id integer generated always as identity primary key,
  pub_id integer not null references publisher,
  url text not null,
  state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed')),
  error text, -- for the publisher; null unless it failed
  result jsonb, -- null until it is done
  screenshot bytea, -- a JPEG; null: none, or a newer one is stored instead
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now(), -- of the last change of its state
  check ((state = 'failed') = (error is not null)),
  check ((state = 'done') = (result is not null))
);
-- A publisher has one check at a time.
create unique index tag_check_open on tag_check (pub_id) where state in ('waiting', 'running');
create index tag_check_publisher on tag_check (pub_id, check_id);

-- A worker checks at once, as it sends new mail.
create function check_tags_now() returns trigger language plpgsql as $$
begin
  update job set next_at = now() where task in (
    select task from job where task = 'check_tags' for update skip locked);
  return null;
end $$;
create trigger tag_check_queued after insert on tag_check
  for each statement execute function check_tags_now();

-- The result of each night's reconciliation, for every worker and `souk doctor`.
create table reconciliation (
  at timestamptz primary key,
  from_day date not null,
  to_day date not null,
  events bigint not null,
  differences integer not null,
  first_differences jsonb not null default '[]'
);
