-- Users, publishers, API keys, dashboard sessions, and the nodes that serve them.

create table app_user (
  uid integer generated always as identity primary key,
  email text not null,
  password_hash text not null, -- scrypt, with its salt and cost
  is_admin boolean not null default false,
  datetime_created timestamptz not null default now()
);
create unique index app_user_email on app_user (lower(email));

create table publisher (
  pub_id integer generated always as identity primary key,
  uid integer not null references app_user,
  name text not null,
  slug text not null,
  is_partner boolean not null default false,
  share_ppm integer not null default 750000 check (share_ppm between 0 and 1000000),
  domains text[] not null default '{}',
  floor_micros bigint not null default 0 check (floor_micros >= 0),
  tolerance_ppm integer not null default 50000 check (tolerance_ppm between 0 and 200000),
  beta double precision not null default 1 check (beta between 0 and 3),
  epsilon_ppm integer not null default 50000 check (epsilon_ppm between 0 and 100000),
  allow_merchants integer[] not null default '{}',
  block_merchants integer[] not null default '{}',
  allow_hosts text[] not null default '{}',
  linkmate_scope text not null default 'all' check (linkmate_scope in ('all', 'network')),
  consent_default text not null default 'full' check (consent_default in ('full', 'contextual')),
  is_price_required boolean not null default false,
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now()
);
create unique index publisher_slug on publisher (lower(slug));
create index publisher_uid on publisher (uid);

create table api_key (
  token_id integer generated always as identity primary key,
  uid integer not null references app_user,
  description text not null,
  key_hash bytea not null unique, -- SHA-256 of the key; the key itself is never stored
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now(),
  datetime_active timestamptz not null default now(),
  datetime_expires timestamptz,
  datetime_last_used timestamptz,
  is_enabled_by_user boolean not null default true
);
create index api_key_uid on api_key (uid);

create table dashboard_session (
  token_hash bytea primary key,
  uid integer not null references app_user,
  expires_at timestamptz not null
);

-- Responses kept for 24 hours, so that a retried creation answers what the first one did.
create table idempotent_response (
  token_id integer not null references api_key,
  idempotency_key text not null,
  body_hash bytea not null,
  status smallint, -- null while the first request is still at work
  body text,
  created_at timestamptz not null default now(),
  primary key (token_id, idempotency_key)
);

-- Every running process holds one number: part of the 64-bit ids it makes and of its leases.
create table node (
  node_id integer primary key check (node_id between 1 and 1023),
  incarnation bigint not null default 1, -- grows each time the number is taken over
  host text not null,
  pid integer not null,
  roles text not null,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  is_spool_empty boolean not null default true,
  -- The fold met the last word of this incarnation: it gets no more leases.
  closed_incarnation bigint not null default 0
);

-- Keys of the hashes that stand for sessions, visitors and addresses in the log. A key thrown
-- away leaves equality within its time and nothing to look up.
create table hash_key (
  purpose text not null check (purpose in ('session', 'visitor', 'address')),
  epoch integer not null, -- whole periods since 1970: 30 days for sessions and visitors, 2 for addresses
  key bytea not null,
  primary key (purpose, epoch)
);
