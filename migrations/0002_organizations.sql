-- Users, and the organizations that they work for: publishers and merchants.

create table app_user (
  uid integer generated always as identity primary key,
  email text not null,
  password_hash text not null, -- scrypt, with its salt and cost
  datetime_created timestamptz not null default now(),
  name text not null default '',
  is_suspended boolean not null default false,
  datetime_updated timestamptz not null default now()
);
create unique index app_user_email on app_user (lower(email));

create table publisher (
  pub_id integer generated always as identity primary key,
  uid integer not null references app_user, -- its owner
  name text not null,
  slug text not null, -- its name in URLs
  is_partner boolean not null default false, -- may use LinkMate
  -- The publisher's part of each price, in millionths.
  share_ppm integer not null default 750000 check (share_ppm between 0 and 1000000),
  domains text[] not null default '{}', -- its own sites, whose pages are never link targets
  floor_micros bigint not null default 0 check (floor_micros >= 0), -- of a click
  -- The largest price increase over the original offer, in millionths.
  tolerance_ppm integer not null default 50000 check (tolerance_ppm between 0 and 200000),
  -- The weight of the reader's price in an auction (docs/spec/auction.md#score).
  beta double precision not null default 1 check (beta between 0 and 3),
  -- The share of auctions that explore, in millionths.
  epsilon_ppm integer not null default 50000 check (epsilon_ppm between 0 and 100000),
  allow_merchants integer[] not null default '{}', -- empty: all
  block_merchants integer[] not null default '{}',
  allow_hosts text[] not null default '{}', -- targets of /link/ that belong to no merchant
  linkmate_scope text not null default 'all' check (linkmate_scope in ('all', 'network')),
  consent_default text not null default 'full' check (consent_default in ('full', 'contextual')),
  is_price_required boolean not null default false,
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now(),
  -- Floors by category and country: [{category_id, country, floor_micros}]. A null country means
  -- everywhere.
  category_floors jsonb not null default '[]',
  time_zone text not null default 'UTC', -- IANA name; days of its breakdowns begin at its midnight
  -- The operator's stop: no auctions and no paid clicks, while readers still reach the link's
  -- original page (docs/spec/management.md#suspension).
  is_suspended boolean not null default false
);
create unique index publisher_slug on publisher (lower(slug));
create index publisher_uid on publisher (uid);
create trigger publisher_changed after insert or update or delete on publisher
  for each statement execute function notify_config();

create table merchant (
  merch_id integer generated always as identity primary key,
  uid integer references app_user, -- its owner; null: it has none
  name text not null,
  click_param text not null default 'cid', -- the query parameter that carries the click id
  deep_link text, -- template with {url_encoded} and {cid}; null: the product's URL itself
  -- How long after its click an order counts, in days.
  window_days integer not null default 30 check (window_days between 1 and 90),
  origins text[] not null default '{}', -- pages whose checkout calls are accepted
  postback_secret text not null, -- signs the requests of the merchant's server
  generation integer not null default 0, -- the offer versions that readers see: table offer
  feed_imported_at timestamptz, -- null: never
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now(),
  -- Commission on orders after a link that was seen but not clicked, in millionths; null: none.
  post_impression_rate_ppm integer check (post_impression_rate_ppm between 1 and 1000000),
  -- Anybody can make a browser report an order. If set, such an order waits until the merchant's
  -- server, a file or a person confirms it.
  is_confirming boolean not null default false,
  default_currency text, -- of feed prices without a currency, ISO 4217; null: not set
  -- The contract allows commissions below the agreed rate (docs/spec/auction.md#second-rate).
  allows_second_rate boolean not null default false,
  is_suspended boolean not null default false -- as for a publisher
);
create index merchant_post_impression on merchant (merch_id)
  where post_impression_rate_ppm is not null;
create trigger merchant_changed after insert or update or delete on merchant
  for each statement execute function notify_config();

create table merchant_domain (
  domain text primary key, -- lower case, without www.; covers its subdomains
  merch_id integer not null references merchant,
  position integer not null -- the first one is the merchant's own site, shown to readers
);
create index merchant_domain_merchant on merchant_domain (merch_id);
create trigger merchant_domain_changed after insert or update or delete on merchant_domain
  for each statement execute function notify_config();

-- Postback secrets that a merchant has replaced. Each stays valid until its end, so that a shop
-- can change over without losing orders.
create table former_postback_secret (
  merch_id integer not null references merchant,
  secret text not null,
  ends_at timestamptz not null,
  primary key (merch_id, secret)
);
