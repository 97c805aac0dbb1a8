-- Offers bid for 24 hours after an import: a feed that came from a web address is fetched again from
-- there. An import from a file ends that.
create table feed_source (
  merch_id integer primary key references merchant,
  url text not null,
  format text not null,
  tried_at timestamptz not null,
  error text
);
