-- What prices without a currency are in, and what the operator says about a feed with an address.
alter table merchant add column default_currency text;
alter table feed_source
  add column map jsonb,
  add column currency text,
  add column element text;
