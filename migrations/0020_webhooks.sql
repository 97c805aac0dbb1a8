-- Webhooks of publishers and merchants, and their deliveries.

create table webhook (
  webhook_id integer generated always as identity primary key,
  pub_id integer references publisher, -- null: of a merchant
  merch_id integer references merchant, -- null: of a publisher
  url text not null,
  secret text not null, -- signs each delivery; shown once
  events text[] not null,
  state text not null default 'active' check (state in ('active', 'disabled')),
  failures integer not null default 0, -- since the last success
  notice text, -- the reason why it was disabled; null: active, or disabled by its owner
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now(),
  check ((pub_id is null) <> (merch_id is null))
);
create index webhook_publisher on webhook (pub_id) where pub_id is not null;
create index webhook_merchant on webhook (merch_id) where merch_id is not null;

create sequence webhook_delivery_delivery_id_seq;

create table webhook_delivery (
  -- Receivers recognize a repeated notice by its id. A restored database would assign the ids of
  -- lost notices again, and receivers would ignore the new ones. So ids begin with the time.
  delivery_id bigint primary key default
    (extract(epoch from clock_timestamp()) * 1000)::bigint * 1000
      + nextval('webhook_delivery_delivery_id_seq') % 1000,
  webhook_id integer not null references webhook on delete cascade,
  event text not null,
  notice_key text not null, -- the same notice is queued once
  payload jsonb not null,
  created_at timestamptz not null,
  due_at timestamptz, -- of the next attempt; null: delivered or given up
  attempts integer not null default 0,
  delivered_at timestamptz, -- null: not delivered
  status smallint, -- of the last response; null: there was none
  error text, -- of the last attempt
  unique (webhook_id, notice_key)
);
-- Each webhook's next deliveries in their order. Deliveries of a disabled webhook are not read.
create index webhook_delivery_due on webhook_delivery (webhook_id, due_at, delivery_id)
  where due_at is not null;
create index webhook_delivery_created on webhook_delivery (created_at);

-- The position up to which notices were created: in the changes of figures, and in the locks of
-- orders.
create table notice_position (
  name text primary key,
  change_id bigint not null default 0, -- of stats_change
  at timestamptz not null default '-infinity' -- locks_at of merchant_order
);
insert into notice_position (name) values ('changes'), ('locks');
