-- When each scheduled job runs next, and which worker runs it. Replaces a library's own tables.

create table job (
  task text primary key,
  next_at timestamptz not null, -- infinity while it runs, or if its schedule has no next time
  worker text, -- null: nobody runs it
  leased_until timestamptz, -- another worker takes it over after this time
  started_at timestamptz,
  ended_at timestamptz, -- of the last run; null while it runs
  succeeded_at timestamptz, -- the end of the last run without an error
  error text, -- of the last run that ended
  failures integer not null default 0, -- since the last success
  check ((worker is null) = (leased_until is null))
);
drop table job_run;
drop schema if exists graphile_worker cascade;

-- A worker sends new mail at once, not at its next minute. Transactions with mail do not wait for
-- each other here: one that finds the row locked leaves its mail to the next minute.
create or replace function send_mail_now() returns trigger language plpgsql as $$
begin
  update job set next_at = now() where task in (
    select task from job where task = 'send_mail' for update skip locked);
  return null;
end $$;
