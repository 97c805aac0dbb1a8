-- Merchants and what they sell.

create table merchant (
  merch_id integer generated always as identity primary key,
  uid integer references app_user,
  name text not null,
  click_param text not null default 'cid',
  deep_link text, -- template with {url_encoded} and {cid}
  window_days integer not null default 30 check (window_days between 1 and 90),
  origins text[] not null default '{}', -- pages whose checkout calls are accepted
  postback_secret text not null,
  generation integer not null default 0, -- the offer versions that readers see, see offer
  feed_imported_at timestamptz,
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now()
);

create table merchant_domain (
  domain text primary key, -- lower case, no www.; covers its subdomains
  merch_id integer not null references merchant,
  position integer not null -- the first one is the merchant's own site, shown to readers
);
create index merchant_domain_merchant on merchant_domain (merch_id);

create sequence offer_id_seq;

-- One row per version of an offer. A version is seen when from_generation <= the merchant's
-- generation and to_generation is null or greater: an import writes the next generation's rows
-- in small committed chunks, and one update of merchant.generation shows them all at once.
create table offer (
  offer_id bigint not null default nextval('offer_id_seq'),
  from_generation integer not null,
  to_generation integer,
  -- No foreign key: its check costs a third of an import, whose lock holds the merchant anyway,
  -- and merchants are never deleted.
  merch_id integer not null,
  sku text not null, -- the feed's id
  -- The product: offers with one joinable GTIN are one product, any other stands alone.
  product_id bigint not null generated always as (coalesce(gtin14, 100000000000000 + offer_id)) stored,
  gtin14 bigint, -- only when the check digit holds and the number may join merchants
  gtin_text text, -- as the feed wrote it
  title text not null,
  brand text,
  mpn text,
  url text not null,
  url_key bytea not null, -- hash of the canonical address
  image_url text,
  price_micros bigint not null check (price_micros > 0),
  is_in_stock boolean not null,
  category_id integer,
  content_hash bytea not null, -- 8 bytes; equal: the feed says what it said before
  imported_at timestamptz not null default now(),
  primary key (offer_id, from_generation)
) with (fillfactor = 90); -- room to end a version on its own page, without touching an index
-- As few as can be, because an import pays for each row in each. Keys without an order are
-- hashed: into a million rows a B-tree of random keys costs 2.0 microseconds a row, a hash 0.3.
create unique index offer_sku on offer (sku, merch_id, from_generation);
create index offer_merchant on offer (merch_id);
create index offer_product on offer using hash (product_id);
create index offer_url on offer using hash (url_key);
create index offer_gtin_text on offer (gtin_text) where gtin14 is null and gtin_text is not null;

-- A row while an import writes, and after one that did not end: then versions that nobody sees
-- are left, and the next import begins by removing them.
create table feed_import (
  merch_id integer primary key references merchant,
  started_at timestamptz not null default now()
);

create view current_offer as
select offer.*
from offer
join merchant using (merch_id)
where offer.from_generation <= merchant.generation
  and (offer.to_generation is null or offer.to_generation > merchant.generation);
