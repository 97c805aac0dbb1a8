-- Notices to publishers and merchants: where to, what, and how each delivery went.
create table webhook (
  webhook_id integer generated always as identity primary key,
  pub_id integer references publisher,
  merch_id integer references merchant,
  url text not null,
  secret text not null, -- signs each delivery; shown once
  events text[] not null,
  state text not null default 'active' check (state in ('active', 'disabled')),
  failures integer not null default 0, -- in a row
  notice text, -- why it was switched off
  datetime_created timestamptz not null default now(),
  check ((pub_id is null) <> (merch_id is null))
);
create index webhook_publisher on webhook (pub_id) where pub_id is not null;
create index webhook_merchant on webhook (merch_id) where merch_id is not null;

create table webhook_delivery (
  delivery_id bigint generated always as identity primary key,
  webhook_id integer not null references webhook on delete cascade,
  event text not null,
  notice_key text not null, -- the same notice is queued once
  payload jsonb not null,
  created_at timestamptz not null,
  due_at timestamptz, -- of the next attempt; null: delivered or given up
  attempts integer not null default 0,
  delivered_at timestamptz,
  status smallint, -- of the last answer; null: none came
  error text, -- of the last attempt
  unique (webhook_id, notice_key)
);
create index webhook_delivery_due on webhook_delivery (due_at) where due_at is not null;

-- How far notices have been made from the changes of figures and from the locks of orders.
create table notice_position (
  name text primary key,
  change_id bigint not null default 0,
  at timestamptz not null default '-infinity'
);
insert into notice_position (name) values ('changes'), ('locks');

-- From where a key was used before: a hash that only the key itself can make of an address.
create table api_key_place (
  token_id integer not null references api_key,
  place_hash bytea not null,
  first_used_at timestamptz not null,
  primary key (token_id, place_hash)
);

-- Where report files are delivered on schedule.
create table report_delivery (
  delivery_id integer generated always as identity primary key,
  pub_id integer not null references publisher,
  target text not null, -- a folder, or s3://bucket/prefix
  endpoint text, -- of S3-compatible storage
  region text,
  access_key text,
  secret_key text,
  is_gzip boolean not null default false,
  delivered_at timestamptz,
  error text, -- of the last run
  datetime_created timestamptz not null default now()
);
create unique index report_delivery_target on report_delivery (pub_id, target);
