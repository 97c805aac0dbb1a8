-- What merchants pay for a reader, and the budgets that bound it.

create table campaign (
  campaign_id integer generated always as identity primary key,
  merch_id integer not null references merchant,
  model text not null check (model in ('cpc', 'cpa', 'epp')),
  bid_micros bigint,
  exclusive_bid_micros bigint,
  rate_ppm integer check (rate_ppm between 1 and 1000000),
  payment_micros bigint,
  roas double precision check (roas > 0),
  daily_budget_micros bigint check (daily_budget_micros > 0),
  budget_micros bigint check (budget_micros > 0),
  starts_at timestamptz,
  ends_at timestamptz,
  countries text[] not null default '{}',
  devices text[] not null default '{}',
  allow_publishers integer[] not null default '{}',
  block_publishers integer[] not null default '{}',
  tracker_impression text[] not null default '{}',
  tracker_viewable text[] not null default '{}',
  state text not null default 'active' check (state in ('active', 'paused')),
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now(),
  check (model <> 'cpc' or bid_micros > 0),
  check (model <> 'cpa' or rate_ppm is not null),
  check (model <> 'epp' or payment_micros > 0),
  check (ends_at > starts_at)
);
create index campaign_merchant on campaign (merch_id);

-- Two accounts a campaign: one per UTC day and one for its life. A null cap is no cap.
create table budget_account (
  account_id bigint generated always as identity primary key,
  campaign_id integer not null references campaign,
  day date, -- null: lifetime
  cap_micros bigint,
  pending_cap_micros bigint, -- a lowered cap that waits for leases to drain
  settled_micros bigint not null default 0 check (settled_micros >= 0),
  escrow_micros bigint not null default 0 check (escrow_micros >= 0),
  version bigint not null default 0,
  check (settled_micros + escrow_micros <= cap_micros),
  unique nulls not distinct (campaign_id, day)
);

create sequence lease_id_seq;

-- A part of a budget that one node may spend on its own until it expires. Both accounts of the
-- campaign hold `granted - reserved_folded` of it in escrow until it is closed.
create table lease (
  lease_id bigint primary key default nextval('lease_id_seq'),
  campaign_id integer not null references campaign,
  day date not null,
  node_id integer not null,
  incarnation bigint not null, -- of the node: a process never spends another one's lease
  granted_micros bigint not null check (granted_micros >= 0),
  reserved_folded_micros bigint not null default 0 check (reserved_folded_micros >= 0),
  paid_folded_micros bigint not null default 0 check (paid_folded_micros >= 0),
  request_no bigint not null, -- newest request obeyed; an older one that comes late is refused
  expires_at timestamptz not null,
  released_at timestamptz, -- its day is over: what is granted is what was spent
  closed_at timestamptz, -- the fold met its node's last word; the rest left escrow
  check (reserved_folded_micros <= granted_micros),
  check (paid_folded_micros <= reserved_folded_micros)
);
create unique index lease_active on lease (campaign_id, day, node_id, incarnation)
  where released_at is null and closed_at is null;
create index lease_open on lease (node_id, incarnation) where closed_at is null;

-- What is learned from the log and read by every node; each row can be made anew from the log.

-- Clicks by hour of the week (0: Monday 00:00 UTC), the traffic curve of pacing.
create table traffic_hour (
  pub_id integer not null,
  hour_of_week smallint not null check (hour_of_week between 0 and 167),
  clicks bigint not null,
  primary key (pub_id, hour_of_week)
);

-- What a ROAS goal leaves of a bid's ceiling.
create table roas_multiplier (
  campaign_id integer primary key references campaign,
  multiplier double precision not null check (multiplier between 0.2 and 1),
  stepped_at timestamptz not null
);

-- Clicks and orders of each pair, decayed to one instant (src/prediction/evidence.ts).
create table pair_evidence (
  pub_id integer not null,
  merch_id integer not null,
  clicks double precision not null,
  unripe double precision not null,
  invalid double precision not null,
  orders double precision not null,
  delay_ms double precision not null,
  log_value double precision not null,
  log_value_square double precision not null,
  as_of timestamptz not null,
  primary key (pub_id, merch_id)
);

-- The nightly fit; the newest one is used, the last but one is what it was smoothed with.
create table prediction_model (
  day date primary key,
  model jsonb not null, -- PredictionModel of src/prediction/prediction-model.ts
  fitted_at timestamptz not null
);
