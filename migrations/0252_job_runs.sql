-- The last run of each scheduled job, and what a reconciliation found first.
create table job_run (
  task text primary key,
  started_at timestamptz not null,
  ended_at timestamptz, -- null: still at work, or its process ended
  succeeded_at timestamptz, -- the end of the last run without an error
  error text -- of the last run that ended
);
alter table reconciliation add column first_differences jsonb not null default '[]';
