-- Articles and the smart links in them.

create table article (
  article_id integer generated always as identity primary key,
  pub_id integer not null references publisher,
  uid integer not null references app_user,
  url text not null,
  url_key bytea not null, -- hash of the canonical address
  name text not null,
  publication_date timestamptz,
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now(),
  unique (pub_id, url_key)
);

create table smart_link (
  auction_id bigint primary key, -- time, node and sequence; above 2^53
  smart_link_id integer generated always as identity unique,
  pub_id integer not null references publisher,
  article_id integer not null references article,
  uid_created integer references app_user,
  url text, -- as given; null: the link leads to its article
  url_hash bytea not null, -- of url, byte for byte
  is_exclusive boolean not null default false,
  source text not null check (source in ('api', 'linkmate', 'wrapper')),
  is_keyless boolean not null default false, -- nobody proved to be the publisher: never an open redirect
  unwraps boolean not null default true, -- look into a known click wrapper for the merchant
  state text not null default 'active' check (state in ('active', 'disabled')),
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now()
);
create index smart_link_article on smart_link (article_id);
create index smart_link_publisher on smart_link (pub_id, auction_id);
-- Links that are found or created (4.5, wrappers): one per article, address and lock.
create unique index smart_link_found on smart_link (article_id, url_hash, is_exclusive)
where source <> 'api';

-- How many links were made without a key this hour (5,000 a publisher).
create table keyless_link_hour (
  pub_id integer not null references publisher,
  hour timestamptz not null,
  links integer not null,
  primary key (pub_id, hour)
);

-- Running edges reload their snapshot when these change (within 2 seconds, operator's interface).
create function notify_config() returns trigger language plpgsql as $$
begin
  perform pg_notify('souk_config', tg_table_name);
  return null;
end
$$;
create trigger publisher_changed after insert or update or delete on publisher
for each statement execute function notify_config();
create trigger merchant_changed after insert or update or delete on merchant
for each statement execute function notify_config();
create trigger merchant_domain_changed after insert or update or delete on merchant_domain
for each statement execute function notify_config();
create trigger campaign_changed after insert or update or delete on campaign
for each statement execute function notify_config();
create trigger api_key_changed after insert or delete or update of is_enabled_by_user on api_key
for each statement execute function notify_config();
create trigger smart_link_changed after delete or update of state, is_keyless on smart_link
for each statement execute function notify_config();
