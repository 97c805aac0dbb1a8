-- Orders from merchants: how they come in, what the fold makes of them, and the rates they
-- were converted by.

-- Published rates, as published: decimal text, so that a conversion can be repeated exactly.
create table exchange_rate (
  rate_id bigint generated always as identity primary key,
  source text not null,
  day date not null,
  currency text not null,
  usd_per_base text not null, -- dollars for one unit of the source's base currency
  currency_per_base text not null, -- and this currency for the same unit
  imported_at timestamptz not null default now(),
  unique (source, day, currency)
);
create index exchange_rate_currency on exchange_rate (currency, day);

-- Post-impression attribution is the merchant's choice, off unless chosen.
alter table merchant add column is_post_impression boolean not null default false;

-- Signed requests of merchants' servers: the same signature twice is a replay, the same
-- Idempotency-Key a retry, which gets the first answer again.
create table intake_request (
  merch_id integer not null references merchant,
  signature bytea not null,
  idempotency_key text,
  body_hash bytea not null,
  status smallint, -- null while the first request is still at work
  response text,
  at timestamptz not null,
  primary key (merch_id, signature)
);
create unique index intake_request_key on intake_request (merch_id, idempotency_key)
where idempotency_key is not null;
create index intake_request_at on intake_request (at);

-- What was sent and not accepted, word for word: nothing that a merchant told us is lost.
create table refused_intake (
  refused_id bigint generated always as identity primary key,
  at timestamptz not null,
  merch_id integer, -- null: the call did not even name a merchant of ours
  endpoint text not null,
  reason text not null,
  faults jsonb not null,
  body text not null,
  origin text
);
create index refused_intake_merchant on refused_intake (merch_id, at);

-- One row per order, keyed by the merchant's own id. `told` is everything that was reported of
-- it; all other columns follow from that and are kept for reading.
create table merchant_order (
  merch_id integer not null,
  order_id text not null,
  told jsonb not null,
  is_posted boolean not null, -- whether the ledger has an entry of it
  event_id bigint, -- of the first report, our own id of the order; null: only returns are known
  day date,
  accepted_at timestamptz,
  source text,
  ordered_at timestamptz,
  currency text,
  value text,
  rate_id text,
  is_new_customer boolean,
  hold text, -- no_rate, review: not counted yet
  click_id bytea, -- null: nobody led to it
  attribution text, -- exact, visitor, impression
  pub_id integer,
  article_id integer,
  campaign_id integer,
  model smallint,
  locks_at timestamptz,
  rejected_at timestamptz,
  reject_reason text,
  revenue_micros bigint not null default 0, -- before returns
  commission_micros bigint not null default 0,
  earnings_micros bigint not null default 0,
  net_sales smallint not null default 0, -- what stands in statistics and ledger
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
  returned integer not null,
  revenue_micros bigint not null,
  commission_micros bigint not null,
  earnings_micros bigint not null,
  primary key (merch_id, order_id, line)
);

-- Goods sent back, as reported and as judged.
create table order_return (
  merch_id integer not null,
  order_id text not null,
  return_id text not null,
  event_id bigint not null,
  day date not null, -- on which it was accepted
  accepted_at timestamptz not null,
  returned_at timestamptz not null,
  line smallint,
  product_id text,
  quantity integer not null,
  state text not null check (state in ('waiting', 'applied', 'refused')),
  reason text, -- of a refusal
  primary key (merch_id, order_id, return_id)
);
create index order_return_day on order_return (day);

-- What a return takes back of each line it concerns; amounts are positive.
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

-- Every change of a row of the statistics and why: what a report said at any time is the sum of
-- the changes until then.
create table stats_change (
  change_id bigint generated always as identity primary key,
  changed_at timestamptz not null default now(),
  cause text not null, -- click, order, revision, return, reversal
  event_ids bigint[] not null,
  day date not null,
  pub_id integer not null,
  article_id integer not null,
  merch_id integer not null,
  clicks bigint not null default 0,
  sales bigint not null default 0,
  revenue_micros bigint not null default 0,
  earnings_micros bigint not null default 0
);
create index stats_change_publisher on stats_change (pub_id, changed_at);
create trigger stats_change_append_only before update or delete on stats_change
for each row execute function refuse_change();

-- When the page impressions of a day last changed: the one figure without a change row of its
-- own (views are a hundred times as many as money).
alter table page_day add column changed_at timestamptz not null default now();
create index page_day_changed on page_day (pub_id, changed_at);
