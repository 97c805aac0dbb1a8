-- Auctions: receipts, totals, and days that run again under other settings.

-- The reason for the result of each auction.
create table receipt (
  result_number bytea primary key,
  at timestamptz not null,
  pub_id integer not null,
  auction_id bigint not null,
  merch_id integer not null, -- 0: no winner
  packed bytea not null -- src/auction/receipt.ts
);
create index receipt_at on receipt (at);
create index receipt_publisher on receipt (pub_id, at);
-- The receipts of one link, newest first. Without it a link's page would read all receipts of its
-- publisher's last days.
create index receipt_link on receipt (auction_id, at desc, result_number desc);

-- The number of auctions that a campaign entered, won and lost. Counts every auction.
create table auction_day (
  day date not null, -- UTC
  campaign_id integer not null references campaign,
  -- The meaning of `value`: 0 none (value 0), 1 publisher, 2 device, 3 country, 4 offer.
  dimension smallint not null check (dimension between 0 and 4),
  value bigint not null,
  reason smallint not null, -- a loss code; 0: won
  auctions bigint not null,
  bids bigint not null, -- auctions of these in which the campaign bid
  bid_micros numeric not null, -- sum
  price_micros numeric not null, -- sum
  primary key (campaign_id, day, dimension, value, reason)
);

-- The last batch of totals of each process. Batches arrive in order, so each is added once.
create table auction_batch (
  node_id smallint not null,
  incarnation bigint not null,
  batch bigint not null,
  primary key (node_id, incarnation)
);

-- Runs of a past day under other settings, and their results. Stored for a day.
create table what_if_job (
  job_id uuid primary key default gen_random_uuid(),
  uid integer not null references app_user,
  state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed')),
  auctions integer not null default 0, -- of the day
  auctions_done integer not null default 0,
  result jsonb, -- null: not done
  created_at timestamptz not null,
  updated_at timestamptz not null -- the node that runs it updates this every few seconds
);
