-- What the fold writes, and nobody else: sameness tables, clicks, daily figures, the ledger.

-- A page impression counts once per publisher and session.
create table page_session (
  pub_id integer not null,
  session_key bytea not null,
  day date not null,
  primary key (pub_id, session_key)
);
create index page_session_day on page_session (day);

-- By address rather than by article: an article created later that day still gets its count.
create table page_day (
  pub_id integer not null,
  url_key bytea not null,
  day date not null,
  impressions bigint not null default 0,
  robot_impressions bigint not null default 0,
  primary key (pub_id, url_key, day)
);

create table link_day (
  pub_id integer not null,
  auction_id bigint not null,
  day date not null,
  impressions bigint not null default 0,
  viewable_impressions bigint not null default 0,
  primary key (pub_id, auction_id, day)
);

-- Every click, judged. reason 0: valid. Only reserved clicks hold their result number.
create table click (
  event_id bigint primary key,
  click_id bytea not null unique,
  result_number bytea not null,
  day date not null,
  at timestamptz not null,
  pub_id integer not null,
  article_id integer not null,
  auction_id bigint not null,
  merch_id integer not null, -- 0: nobody of the network
  campaign_id integer, -- null: nobody paid for it
  offer_id bigint,
  model smallint not null,
  price_micros bigint not null, -- the sealed price
  share_ppm integer not null,
  paid_micros bigint not null, -- the price, or 0 with a reason
  publisher_micros bigint not null,
  reason smallint not null,
  is_reserved boolean not null,
  visitor_key bytea,
  session_key bytea,
  reversed_at timestamptz
);
create unique index click_result on click (result_number) where is_reserved;
create index click_visitor on click (visitor_key, at) where visitor_key is not null and reason = 0;
create index click_publisher_day on click (pub_id, day);
create index click_merchant_at on click (merch_id, at);

-- Section 4.4, in micros. Page impressions are joined from page_day when a row is written out.
create table stats_day (
  day date not null,
  pub_id integer not null,
  article_id integer not null,
  merch_id integer not null,
  clicks bigint not null default 0,
  invalid_clicks bigint not null default 0,
  unfunded_clicks bigint not null default 0,
  placements bigint not null default 0,
  sales bigint not null default 0,
  revenue_micros bigint not null default 0,
  earnings_micros bigint not null default 0,
  primary key (pub_id, day, article_id, merch_id)
);

-- Double entry (I7): append-only, every transaction sums to zero and names its cause.
create table ledger_transaction (
  transaction_id bigint generated always as identity primary key,
  idempotency_key text not null unique,
  kind text not null,
  day date not null,
  at timestamptz not null,
  event_id bigint not null,
  corrects text -- idempotency key of the entry that this one corrects
);

create table ledger_line (
  transaction_id bigint not null references ledger_transaction,
  line smallint not null,
  account text not null check (account in ('merchant', 'publisher', 'platform', 'bank')),
  day date not null,
  merch_id integer not null,
  pub_id integer not null,
  article_id integer not null,
  amount_micros bigint not null,
  primary key (transaction_id, line)
);
create index ledger_line_day on ledger_line (pub_id, day);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'table % is append-only: a correction is a new entry', tg_table_name;
end
$$;
create trigger ledger_transaction_append_only before update or delete on ledger_transaction
for each row execute function refuse_change();
create trigger ledger_line_append_only before update or delete on ledger_line
for each row execute function refuse_change();

-- Why each auction ended as it did (architecture, receipts).
create table receipt (
  result_number bytea primary key,
  at timestamptz not null,
  pub_id integer not null,
  auction_id bigint not null,
  merch_id integer not null,
  packed bytea not null
);
create index receipt_at on receipt (at);
create index receipt_publisher on receipt (pub_id, at);
