-- Budgets of campaigns (docs/spec/budgets.md).

-- Two accounts for each campaign: one for each UTC day and one for its whole life.
create table budget_account (
  account_id bigint generated always as identity primary key,
  campaign_id integer not null references campaign,
  day date, -- null: the whole life
  cap_micros bigint, -- null: no limit
  pending_cap_micros bigint, -- a lowered cap that waits for leases to drain; null: none
  settled_micros bigint not null default 0 check (settled_micros >= 0),
  escrow_micros bigint not null default 0 check (escrow_micros >= 0), -- held for open leases
  check (settled_micros + escrow_micros <= cap_micros),
  unique nulls not distinct (campaign_id, day)
);

create sequence lease_id_seq;

-- A part of a budget that one node may spend alone until it expires. Both accounts of the campaign
-- hold `granted - reserved_folded` of it in escrow until it is closed.
create table lease (
  -- Clicks in spools name their leases. A database that was restored, or a standby that took over,
  -- would assign the numbers of lost leases again, and the escrow of others would pay for those
  -- clicks. So numbers begin with the time; a thousand leases in one millisecond do not occur.
  lease_id bigint primary key default
    (extract(epoch from clock_timestamp()) * 1000)::bigint * 1000 + nextval('lease_id_seq') % 1000,
  campaign_id integer not null references campaign,
  day date not null,
  node_id integer not null,
  incarnation bigint not null, -- of the node: a process never spends the lease of another
  granted_micros bigint not null check (granted_micros >= 0),
  reserved_folded_micros bigint not null default 0 check (reserved_folded_micros >= 0),
  paid_folded_micros bigint not null default 0 check (paid_folded_micros >= 0),
  request_no bigint not null, -- of the newest request; an older one that arrives late is refused
  expires_at timestamptz not null,
  released_at timestamptz, -- its day is over, and the grant shrank to the spending; null: not yet
  closed_at timestamptz, -- the fold read its node's final event, and the rest left escrow
  spent_micros bigint not null default 0, -- reserved so far, folded or not, as the node reports
  -- A restored database may know less of a lease than its node was granted. A click above the rest
  -- of the grant closes the lease, at this place in the money lane.
  lost_seq bigint,
  -- Another node needs money of this lease: its own node learns that with its next answer.
  is_recalled boolean not null default false,
  -- The expected cost of results that the node handed out and nobody has clicked yet.
  in_flight_micros bigint not null default 0,
  check (reserved_folded_micros <= granted_micros),
  check (paid_folded_micros <= reserved_folded_micros)
);
create unique index lease_active on lease (campaign_id, day, node_id, incarnation)
  where released_at is null and closed_at is null;
create index lease_open on lease (node_id, incarnation) where closed_at is null;
create index lease_recalled on lease (node_id) where is_recalled and closed_at is null;

-- Clicks by hour of the week: the traffic curve of pacing.
create table traffic_hour (
  pub_id integer not null,
  hour_of_week smallint not null check (hour_of_week between 0 and 167), -- 0: Monday 00:00 UTC
  clicks bigint not null,
  primary key (pub_id, hour_of_week)
);

-- The factor of a ROAS goal on a campaign's bids (docs/spec/budgets.md#roas-goals).
create table roas_multiplier (
  campaign_id integer primary key references campaign,
  multiplier double precision not null check (multiplier between 0.2 and 5),
  stepped_at timestamptz not null
);

-- Clicks whose orders may still come, summed at night (docs/spec/budgets.md#open-clicks).
create table open_click_sum (
  merch_id integer not null,
  campaign_id integer not null,
  pub_id integer not null,
  model smallint not null, -- as in event
  terms_amount bigint not null, -- of the sealed terms, in the unit of the model
  -- For each mean delay: the sum of exp(-age / delay), at the time up to which clicks are summed.
  waiting double precision[] not null
);

-- Clicks before that time that the sums lack. A click may be listed twice and counts once.
create table open_click_unsummed (
  merch_id integer not null,
  click_id bytea not null
);
create index open_click_unsummed_merchant on open_click_unsummed (merch_id);
