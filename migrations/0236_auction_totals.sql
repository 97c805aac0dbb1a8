-- How many auctions a campaign entered, won and lost, a day: counted for every auction.
create table auction_day (
  day date not null,
  campaign_id integer not null references campaign,
  -- What `value` counts by: 0 nothing (value 0), 1 publisher, 2 device, 3 country, 4 offer.
  dimension smallint not null check (dimension between 0 and 4),
  value bigint not null,
  reason smallint not null, -- A loss code; 0: won.
  auctions bigint not null,
  bids bigint not null, -- Of these auctions, those in which the campaign got to bid.
  bid_micros numeric not null,
  price_micros numeric not null,
  primary key (campaign_id, day, dimension, value, reason)
);

-- The last batch of totals of each process. Batches come in order, so each is added once.
create table auction_batch (
  node_id smallint not null,
  incarnation bigint not null,
  batch bigint not null,
  primary key (node_id, incarnation)
);
