-- Postback secrets that a merchant has replaced: each signs until its time, so that a shop can
-- change over without losing orders.
create table former_postback_secret (
  merch_id integer not null references merchant,
  secret text not null,
  ends_at timestamptz not null,
  primary key (merch_id, secret)
);
