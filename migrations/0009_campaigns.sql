-- Campaigns: the prices and commissions that merchants offer for a reader.

create table campaign (
  campaign_id integer generated always as identity primary key,
  merch_id integer not null references merchant,
  model text not null check (model in ('cpc', 'cpa', 'epp')), -- per click, order value, purchase
  bid_micros bigint, -- cpc: the highest cost of a click
  exclusive_bid_micros bigint, -- cpc: the price of exclusive links; null: the bid
  rate_ppm integer check (rate_ppm between 1 and 1000000), -- cpa: commission, in millionths
  payment_micros bigint, -- epp: of each purchase
  roas double precision check (roas > 0), -- cpc: target revenue per dollar spent; null: none
  daily_budget_micros bigint check (daily_budget_micros > 0), -- of a UTC day; null: no limit
  budget_micros bigint check (budget_micros > 0), -- of its whole life; null: no limit
  starts_at timestamptz, -- null: at once
  ends_at timestamptz, -- null: never
  countries text[] not null default '{}', -- empty: everywhere
  devices text[] not null default '{}', -- empty: all
  allow_publishers integer[] not null default '{}', -- empty: all
  block_publishers integer[] not null default '{}',
  tracker_impression text[] not null default '{}', -- URLs that the reader's browser requests
  tracker_viewable text[] not null default '{}',
  state text not null default 'active' check (state in ('active', 'paused')),
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now(),
  -- Paid clicks of one address unit (docs/spec/clicks.md#clicks-per-address).
  clicks_per_address_hour integer not null default 10 check (clicks_per_address_hour >= 1),
  clicks_per_address_day integer not null default 50 check (clicks_per_address_day >= 1),
  -- cpa, epp: pays the lowest rate that still wins (docs/spec/auction.md#second-rate).
  has_second_rate boolean not null default false,
  -- A merchant cannot start a campaign that the operator paused. null: active.
  paused_by text check (paused_by in ('merchant', 'operator')),
  check (model <> 'cpc' or bid_micros > 0),
  check (model <> 'cpa' or rate_ppm is not null),
  check (model <> 'epp' or payment_micros > 0),
  check (ends_at > starts_at),
  check (state = 'paused' or paused_by is null)
);
create index campaign_merchant on campaign (merch_id);
create trigger campaign_changed after insert or update or delete on campaign
  for each statement execute function notify_config();
