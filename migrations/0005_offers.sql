-- Offers of merchants, and the product feeds that they come from.

create sequence offer_id_seq;

-- One row per version of an offer. A version is visible when from_generation <= the merchant's
-- generation and to_generation is null or greater. An import writes the rows of the next
-- generation in small committed chunks, and one update of merchant.generation shows them at once.
create table offer (
  offer_id bigint not null default nextval('offer_id_seq'),
  from_generation integer not null,
  to_generation integer, -- null: the newest version
  -- No foreign key: checking it costs a third of an import, whose lock protects the merchant
  -- anyway, and merchants are never deleted.
  merch_id integer not null,
  sku text not null, -- the feed's id
  -- Offers with one joinable GTIN are one product; any other offer is a product by itself.
  product_id bigint not null
    generated always as (coalesce(gtin14, 100000000000000 + offer_id)) stored,
  gtin14 bigint, -- null: the check digit is wrong, or the number may not join merchants
  gtin_text text, -- as the feed states it
  title text not null,
  brand text,
  mpn text, -- manufacturer part number
  url text not null,
  url_key bytea not null, -- hash of the canonical URL
  image_url text,
  price_micros bigint not null check (price_micros > 0),
  is_in_stock boolean not null,
  category_id integer,
  content_hash bytea not null, -- 8 bytes; equal if the feed repeats the same values
  regular_price_micros bigint, -- null: not on sale
  -- Only product feeds for publishers contain these; null: the merchant's feed does not state them.
  description text,
  color text,
  size text,
  item_group_id text,
  primary key (offer_id, from_generation)
) with (fillfactor = 90); -- room to end a version on its own page, without touching an index
-- As few as possible, because an import pays for each row in each. Keys without an order are
-- hashed: into a million rows a B-tree of random keys costs 2.0 microseconds a row, a hash 0.3.
create unique index offer_sku on offer (sku, merch_id, from_generation);
create index offer_merchant on offer (merch_id);
create index offer_product on offer using hash (product_id);
create index offer_url on offer using hash (url_key);
create index offer_gtin_text on offer (gtin_text) where gtin14 is null and gtin_text is not null;

-- The visible versions.
create view current_offer as
select offer.*
from offer
join merchant using (merch_id)
where offer.from_generation <= merchant.generation
  and (offer.to_generation is null or offer.to_generation > merchant.generation);

-- A row while an import writes. After an import that failed the row stays, together with versions
-- that nobody sees: the next import removes those first.
create table feed_import (
  merch_id integer primary key references merchant
);

-- Feeds that are fetched from a URL. Offers bid for 24 hours after an import, so each feed is
-- fetched again. An import from a file removes the row.
create table feed_source (
  merch_id integer primary key references merchant,
  url text not null,
  format text not null,
  tried_at timestamptz not null, -- the epoch: never
  error text, -- of the last try; null: it succeeded
  map jsonb, -- the feed's names of columns; null: recognized by their names
  currency text, -- of prices without one; null: the merchant's default
  element text, -- of an XML feed: the element that holds one offer; null: recognized
  every_hours integer default 6, -- null: only on request
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now()
);

-- Imports and their results.
create table feed_run (
  import_id bigint generated always as identity primary key,
  merch_id integer not null references merchant,
  source text not null check (source in ('url', 'upload', 'schedule', 'command')),
  is_dry_run boolean not null,
  state text not null
    check (state in ('receiving', 'waiting', 'fetching', 'importing', 'done', 'failed')),
  url text, -- without its password; null: from a file
  rows bigint not null default 0,
  bytes_read bigint not null default 0, -- of the file
  bytes_total bigint, -- null: unknown
  result jsonb, -- null: not done
  error text, -- null: not failed
  rejects_stored integer not null default 0, -- rows in feed_reject
  started_at timestamptz not null default now(),
  alive_at timestamptz not null default now(), -- its process updates this while it works
  ended_at timestamptz, -- null: running
  -- [{"name", "field"}]: the columns of the feed, and the field that each is read as (null:
  -- ignored), for people who map columns by hand. null: the import has not read them.
  columns jsonb
);
create index feed_run_merchant on feed_run (merch_id, import_id);

-- The first rejected rows of an import.
create table feed_reject (
  import_id bigint not null references feed_run on delete cascade,
  reject_id integer not null, -- 1, 2 … in the order of the feed
  line integer not null,
  sku text, -- null: the row has none
  field text, -- null: the row as a whole
  value text not null,
  reason text not null,
  detail text not null,
  primary key (import_id, reject_id)
);
