-- The installation, its running processes, and functions that many tables use.

-- The id of this database, one row. A spool and a stream store it, so that the events of one
-- installation never reach the log of another. A restored backup or a standby keeps the id.
create table installation (
  id uuid not null
);
create unique index installation_only on installation ((true));
insert into installation (id) values (gen_random_uuid());

-- Each running process has one number. It is part of the 64-bit ids that the process generates,
-- and of its leases.
create table node (
  node_id integer primary key check (node_id between 1 and 1023),
  incarnation bigint not null default 1, -- increases each time a process takes the number over
  host text not null,
  pid integer not null,
  roles text not null, -- comma-separated ROLES, or `command`
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  is_spool_empty boolean not null default true,
  -- The fold has read the final event of this incarnation, which therefore gets no more leases.
  closed_incarnation bigint not null default 0,
  -- A command has its own environment, so it reads here whether the servers can locate readers.
  knows_countries boolean not null default false,
  -- Fingerprints of the keys that the node signs with (the first) and opens results with. They
  -- reveal nothing about the keys. Clicks are unpaid where one node lacks a key of another.
  key_fingerprints text[] not null default '{}',
  -- The settings that must be equal on all nodes. If they differ, each node looks healthy alone,
  -- but clicks are not paid or events reach no figure.
  settings jsonb not null default '{}'
);

-- Bytes that anonymous clients made the service store (docs/spec/limits.md).
create table stored_bytes (
  day date not null, -- UTC
  kind text not null,
  organization_id integer not null, -- 0: the request names no existing organization
  bytes bigint not null,
  left_out bigint not null, -- rows that a quota kept out
  primary key (day, kind, organization_id)
);

-- The time up to which a periodic task has done its work, so that it does not start over.
create table upkeep (
  task text primary key,
  done_until timestamptz not null
);

-- Edges listen on this channel and reload their snapshot, within two seconds of a change.
create function notify_config() returns trigger language plpgsql as $$
begin
  perform pg_notify('souk_config', tg_table_name);
  return null;
end
$$;

-- For tables whose rows are never updated or deleted.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'table % is append-only: a correction is a new entry', tg_table_name;
end
$$;
