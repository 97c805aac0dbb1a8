-- The ledger, payments, and monthly statements.

-- Double entry (ARCHITECTURE.md, I7): append-only, every transaction sums to zero and names its
-- cause.
create table ledger_transaction (
  transaction_id bigint generated always as identity primary key,
  idempotency_key text not null unique,
  kind text not null, -- click, order, revision, return, reversal, payment, payment_reversal
  day date not null, -- UTC
  at timestamptz not null,
  event_id bigint not null, -- the cause
  corrects text -- idempotency key of the corrected entry; null: a new entry
);
-- Rows arrive in the order of events, so an index of block ranges finds them and costs the fold
-- nothing.
create index ledger_transaction_event on ledger_transaction
  using brin (event_id) with (pages_per_range = 32, autosummarize = on);
-- An order shows all entries that it caused. Few entries correct another one, so this costs clicks
-- nothing.
create index ledger_transaction_corrects on ledger_transaction (corrects)
  where corrects is not null;
create trigger ledger_transaction_append_only before update or delete on ledger_transaction
  for each row execute function refuse_change();

create table ledger_line (
  -- No foreign key: it took 18 of the ledger's 62 ms for 1,000 clicks. One function writes an
  -- entry and its lines, and reconcile finds a line without an entry.
  transaction_id bigint not null,
  line smallint not null,
  account text not null check (account in ('merchant', 'publisher', 'platform', 'bank')),
  day date not null,
  merch_id integer not null,
  pub_id integer not null, -- 0: none
  article_id integer not null, -- 0: none
  amount_micros bigint not null, -- minus: owed; plus: received
  primary key (transaction_id, line)
);
-- For a merchant's own account. Nothing reads the lines of a publisher.
create index ledger_line_merchant on ledger_line (merch_id, day);
create trigger ledger_line_append_only before update or delete on ledger_line
  for each row execute function refuse_change();

-- A merchant's debt to a publisher for a day's clicks, which the fold stores beside the entries.
-- Each page of a report of orders settles debts: two seconds for each merchant if computed from the
-- entries of two million paid clicks.
create table click_debt (
  merch_id integer not null,
  pub_id integer not null,
  day date not null, -- of the entry, UTC
  cost_micros bigint not null, -- the merchant's; negative for reversals
  earnings_micros bigint not null, -- the publisher's
  -- The day of the click. A reversal closes the debt of this day; otherwise a debt that nobody
  -- paid would absorb the payments of others.
  click_day date not null,
  primary key (merch_id, pub_id, day, click_day)
);
create index click_debt_publisher on click_debt (pub_id, merch_id);

-- Payments of merchants, as the operator recorded them. The released earnings follow from these
-- rows, the orders and the ledger (src/ledger/release.ts). Nothing about a release is stored. A
-- payment is recorded for the merchant that it names, also if a restored database lost that one.
create table merchant_payment (
  event_id bigint primary key, -- also the payment's id in reports
  merch_id integer not null,
  reference text not null,
  paid_on date not null,
  amount_micros bigint not null check (amount_micros > 0),
  day date not null, -- of the event, UTC
  at timestamptz not null,
  -- The payment bounced, or was a mistake. Its releases stay released, and its amount is owed again
  -- from then on. null: not reversed.
  reversal_event_id bigint,
  reversed_at timestamptz,
  reverse_reason text,
  unique (merch_id, reference) -- the same payment recorded twice counts once
);

-- A publisher's month as it was reported to it. Never changed: later corrections are on a later
-- statement.
create table statement (
  pub_id integer not null references publisher,
  month date not null check (extract(day from month) = 1),
  opening_micros bigint not null, -- carried over from the month before
  released_micros bigint not null,
  reversed_micros bigint not null, -- returns and reversals after the lock, not negative
  payout_micros bigint not null, -- 0: below the minimum, carried over
  closing_micros bigint not null,
  issued_at timestamptz not null,
  -- The folded position of the money lane at that time. Events of these months that a spool
  -- delivers later are on the next statement. null: unknown.
  position bigint,
  primary key (pub_id, month),
  check (closing_micros = opening_micros + released_micros - reversed_micros - payout_micros)
);
create trigger statement_append_only before update or delete on statement
  for each row execute function refuse_change();

-- Payouts that the operator has confirmed as paid.
create table paid_payout (
  pub_id integer not null,
  month date not null, -- of the statement
  paid_on date not null,
  reference text, -- null: none
  confirmed_at timestamptz not null,
  primary key (pub_id, month),
  foreign key (pub_id, month) references statement
);
