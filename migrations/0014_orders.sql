-- Orders and returns from merchants, and the exchange rates that convert them.

-- Published rates as decimal text, as the source states them, so that a conversion can be repeated
-- exactly. A corrected rate is a new row: orders name the row that converted them.
create table exchange_rate (
  rate_id bigint generated always as identity primary key,
  source text not null,
  day date not null,
  currency text not null,
  usd_per_base text not null, -- dollars for one unit of the source's base currency
  currency_per_base text not null, -- this currency for the same unit
  datetime_created timestamptz not null default now()
);
create index exchange_rate_currency on exchange_rate (currency, day);

-- Signed requests of merchants' servers. The same signature twice is a replay. The same
-- Idempotency-Key is a retry, which gets the first response again.
create table intake_request (
  merch_id integer not null references merchant,
  signature bytea not null,
  idempotency_key text, -- null: the request has none
  body_hash bytea not null,
  status smallint, -- null while the first request is running
  response text,
  at timestamptz not null,
  primary key (merch_id, signature)
);
create unique index intake_request_key on intake_request (merch_id, idempotency_key)
  where idempotency_key is not null;
create index intake_request_at on intake_request (at);

-- Requests that were refused, or accepted with warnings, word for word: nothing that a merchant
-- sent is lost.
create table refused_intake (
  refused_id bigint generated always as identity primary key,
  at timestamptz not null,
  merch_id integer, -- null: the request names no merchant of this network
  endpoint text not null,
  reason text not null,
  faults jsonb not null,
  body text not null,
  origin text, -- null: the request has none
  -- The merchant's own server sent it. The requests of third parties take no room from these.
  is_proven boolean not null default false,
  is_accepted boolean not null default false
);
create index refused_intake_at on refused_intake (at);
create index refused_intake_shown on refused_intake (merch_id, is_proven, at);

-- The number of orders and returns that were accepted with a warning.
create table intake_warning (
  merch_id integer not null references merchant,
  day date not null, -- UTC
  kind text not null,
  count bigint not null,
  primary key (merch_id, day, kind)
);

-- The last signal of a merchant's tag and server.
create table merchant_signal (
  merch_id integer not null references merchant,
  kind text not null check (kind in ('tag_page', 'tag_checkout', 'server_order', 'server_return')),
  last_at timestamptz not null,
  primary key (merch_id, kind)
);

-- Links that a page session has shown, of merchants that pay for orders after a link was only
-- seen. Stored for a day or two. The order's own event holds the facts that decide about it.
create table seen_link (
  session_key bytea not null,
  auction_id bigint not null,
  merch_id integer not null,
  placed_at timestamptz not null,
  event_id bigint, -- of the last viewable impression; null: never in view
  seen_at timestamptz, -- of that impression
  primary key (session_key, auction_id, merch_id)
);
create index seen_link_placed on seen_link (placed_at);

-- One row per order, by the merchant's id. `account` contains all that was reported: the other
-- columns follow from it, and are stored for reading.
create table merchant_order (
  merch_id integer not null,
  order_id text not null,
  account jsonb not null, -- OrderAccount of src/orders/order-account.ts
  is_posted boolean not null, -- the ledger has an entry of it
  event_id bigint, -- of the first report: our id of the order; null: only returns are known
  day date, -- UTC, on which the first report was accepted; null: only returns are known
  accepted_at timestamptz, -- of the first report
  source text,
  ordered_at timestamptz,
  currency text,
  value text, -- in the order's currency
  rate_id text, -- of the exchange rate; null: in dollars, or no rate is known
  hold text, -- no_rate, review: not counted yet; null: not held
  click_id bytea, -- null: no click led to it
  attribution text, -- exact, visitor, impression; null: none
  pub_id integer, -- of the publisher that it is owed to; null: none, as in the next columns
  article_id integer,
  campaign_id integer,
  model smallint, -- as in event
  locks_at timestamptz, -- the time when its amounts freeze; null: unknown while it is held
  rejected_at timestamptz, -- null: not rejected
  reject_reason text,
  revenue_micros bigint not null default 0, -- before returns
  commission_micros bigint not null default 0,
  earnings_micros bigint not null default 0,
  net_sales smallint not null default 0, -- these four are in statistics and ledger
  net_revenue_micros bigint not null default 0,
  net_commission_micros bigint not null default 0,
  net_earnings_micros bigint not null default 0,
  primary key (merch_id, order_id)
);
create index merchant_order_publisher on merchant_order (pub_id, day) where pub_id is not null;
create index merchant_order_event on merchant_order (event_id);
create index merchant_order_accepted on merchant_order (merch_id, accepted_at);
create index merchant_order_hold on merchant_order (hold) where hold is not null;
create index merchant_order_click on merchant_order (click_id) where click_id is not null;
create index merchant_order_locks on merchant_order (locks_at)
  where pub_id is not null and rejected_at is null;
-- Every five minutes a job looks here for clicks that have arrived since. An order that is owed to
-- a guess is reported again as well, once the named click is known.
create index merchant_order_unknown_click on merchant_order (merch_id, order_id)
  where (attribution is null or attribution <> 'exact') and rejected_at is null
    and account @> '{"evidence": [{"verdict": "unknown_click"}]}';

create table order_line (
  merch_id integer not null,
  order_id text not null,
  line smallint not null,
  order_product_id text not null, -- checkout, merchant and product: the key of reports
  product_id text,
  name text,
  brand text,
  price text, -- in the order's currency, as reported
  quantity integer not null,
  returned integer not null, -- units
  revenue_micros bigint not null,
  commission_micros bigint not null,
  earnings_micros bigint not null,
  primary key (merch_id, order_id, line)
);

-- Returned goods and refunds, as reported and as judged.
create table order_return (
  merch_id integer not null,
  order_id text not null,
  return_id text not null,
  event_id bigint not null,
  day date not null, -- UTC, on which it was accepted
  accepted_at timestamptz not null,
  returned_at timestamptz not null,
  line smallint, -- null: the return names no line
  product_id text,
  quantity integer not null, -- 0 if it names an amount
  state text not null check (state in ('waiting', 'applied', 'refused')),
  reason text, -- of a refusal
  amount text, -- decimal; null: it names units
  currency text, -- of the amount
  primary key (merch_id, order_id, return_id)
);
create index order_return_day on order_return (day);
-- A merchant's list, the latest first.
create index order_return_merchant on order_return (merch_id, event_id);

-- The part of each line that a return reverses; amounts are positive.
create table order_return_line (
  merch_id integer not null,
  order_id text not null,
  return_id text not null,
  line smallint not null,
  quantity integer not null,
  revenue_micros bigint not null,
  commission_micros bigint not null,
  earnings_micros bigint not null,
  primary key (merch_id, order_id, return_id, line)
);
