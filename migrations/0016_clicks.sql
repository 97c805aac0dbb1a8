-- Clicks as the fold judged them. Only the fold writes these tables.

create table click (
  event_id bigint primary key,
  click_id bytea not null,
  result_number bytea not null, -- of the auction result
  day date not null, -- UTC
  at timestamptz not null,
  pub_id integer not null,
  article_id integer not null,
  auction_id bigint not null, -- of the smart link
  merch_id integer not null, -- 0: no merchant of the network
  campaign_id integer, -- null: nobody paid for it
  offer_id bigint, -- null: the click led to no offer
  model smallint not null, -- as in event
  terms_amount bigint not null, -- of the sealed terms, in the unit of the model
  share_ppm integer not null, -- the publisher's part, in millionths
  merchant_cost_micros bigint not null, -- the price, or 0 with a reason
  publisher_earnings_micros bigint not null, -- the publisher's part of it
  reason smallint not null, -- src/events/reason.ts; 0: valid
  is_reserved boolean not null, -- only such clicks claim their result number
  visitor_key bytea, -- null: without a visitor
  session_key bytea, -- null: without a page session
  reversed_at timestamptz, -- null: not reversed
  reverse_reason text, -- in the operator's words
  offer_generation integer, -- of clicked_offer; null: no offer, or it was gone before the fold
  -- Of two reversals at once, this one reversed the click. The other is reported as too late.
  reversal_event_id bigint,
  -- The rules on paid clicks read these (docs/spec/clicks.md#rules).
  address_key bytea, -- null: rules by address do not apply
  agent_key bytea, -- null: rules by address do not apply
  visitor_returned boolean -- the browser sent our cookie; null: unknown
);
create unique index click_result on click (result_number) where is_reserved;
-- Explaining and reversing look up all clicks of a result, also unpaid ones.
create index click_of_result on click using hash (result_number);
-- Random keys that nothing sorts by: of 30 ms for 1,000 clicks, B-trees over two of them took 10.
-- A click id is unique by its 128 random bits.
create index click_click_id on click using hash (click_id);
-- The fold looks up the valid clicks of a visitor, and of an address unit on a campaign.
create index click_visitor on click using hash (visitor_key)
  where visitor_key is not null and reason = 0;
create index click_address on click (address_key, coalesce(campaign_id, 0), at)
  where address_key is not null and reason = 0;
-- Pages of a publisher's clicks go by day and event.
create index click_publisher_event on click (pub_id, day, event_id);
create index click_merchant_at on click (merch_id, at);
-- Valid clicks that pay per order. A merchant's clicks that were paid at once may be many more.
create index click_per_order on click (merch_id, at) where model in (2, 3) and reason = 0;
create index click_reversal on click (reversal_event_id) where reversal_event_id is not null;
-- Rows arrive in the order of time, so an index of block ranges finds them and costs the fold
-- nothing.
create index click_at on click using brin (at) with (pages_per_range = 32, autosummarize = on);

-- The versions of offers that readers clicked, each once, stored as long as the clicks. Imports
-- delete a version of an offer as soon as they have replaced it.
create table clicked_offer (
  offer_id bigint not null,
  from_generation integer not null,
  product_id bigint not null,
  category_id integer,
  brand text,
  title text not null,
  price_micros bigint not null,
  primary key (offer_id, from_generation)
);
create index clicked_offer_product on clicked_offer using hash (product_id);

-- Events that the fold could not process because of a defect in the program. They stay in the log,
-- delay no later event, and are folded again at the next start.
create table unfolded_event (
  lane smallint not null,
  seq bigint not null,
  event_id bigint not null,
  day date not null,
  error text not null,
  at timestamptz not null default now(),
  primary key (lane, seq)
);
