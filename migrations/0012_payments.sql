-- Why a click was reversed, in the operator's words.
alter table click add column reverse_reason text;

-- What merchants paid, as the operator recorded it. Which earnings that releases follows from
-- these rows, the orders and the ledger; nothing about it is stored (ledger/release.ts).
create table merchant_payment (
  event_id bigint primary key, -- also the payment's id in reports
  merch_id integer not null references merchant,
  reference text not null,
  paid_on date not null,
  amount_micros bigint not null check (amount_micros > 0),
  day date not null,
  at timestamptz not null,
  unique (merch_id, reference) -- the same payment typed twice counts once
);

-- A publisher's month as it was told to them. Issued once, never changed: what comes later is on
-- a later statement.
create table statement (
  pub_id integer not null references publisher,
  month date not null check (extract(day from month) = 1),
  opening_micros bigint not null, -- carried over from the month before
  released_micros bigint not null,
  taken_back_micros bigint not null, -- returns and reversals after the lock, not negative
  payout_micros bigint not null, -- 0: under the minimum, carried over
  closing_micros bigint not null,
  issued_at timestamptz not null,
  primary key (pub_id, month),
  check (closing_micros = opening_micros + released_micros - taken_back_micros - payout_micros)
);
create trigger statement_append_only before update or delete on statement
for each row execute function refuse_change();
