-- Articles, the smart links in them, and the health of these links.

create table article (
  article_id integer generated always as identity primary key,
  pub_id integer not null references publisher,
  uid integer not null references app_user,
  url text not null,
  url_key bytea not null, -- hash of the canonical URL
  name text not null,
  publication_date timestamptz,
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now(),
  unique (pub_id, url_key)
);

create table smart_link (
  auction_id bigint primary key, -- time, node and sequence; above 2^53
  smart_link_id integer generated always as identity, -- nothing looks it up, so it has no index
  pub_id integer not null references publisher,
  article_id integer not null references article,
  uid_created integer references app_user, -- null: created without an API key
  url text, -- as given; null: the link leads to its article
  url_hash bytea not null, -- of url, byte for byte
  is_exclusive boolean not null default false,
  source text not null check (source in ('api', 'linkmate', 'wrapper')),
  -- Nobody proved to be the publisher, so the link is never an open redirect.
  is_keyless boolean not null default false,
  unwraps boolean not null default true, -- reads the merchant's URL inside a known click wrapper
  state text not null default 'active' check (state in ('active', 'disabled')),
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now(),
  -- The publisher named the link's article, with its key or in a wrapper's URL. false: it is the
  -- page on which the link was found.
  is_article_given boolean not null default false,
  -- A publisher cannot enable a link that the operator disabled. null: active.
  disabled_by text check (disabled_by in ('publisher', 'operator'))
);
create index smart_link_publisher on smart_link (pub_id, auction_id);
create index smart_link_identity on smart_link (article_id, url_hash, is_exclusive);
-- Links that are found or created, by LinkMate and wrappers: one for each article, URL, lock and
-- unwrapping.
create unique index smart_link_found on smart_link (article_id, url_hash, is_exclusive, unwraps)
  where source <> 'api';
-- Edges hold the ids of all disabled links in memory: few of very many.
create index smart_link_disabled on smart_link (auction_id) where state = 'disabled';
-- Edges reload only after a real change: LinkMate and wrappers upsert their links, which counts as
-- an update even if no column changes.
create trigger smart_link_changed after update on smart_link
  for each row when ((old.state, old.is_keyless, old.url, old.is_exclusive)
    is distinct from (new.state, new.is_keyless, new.url, new.is_exclusive))
  execute function notify_config();
create trigger smart_link_deleted after delete on smart_link
  for each statement execute function notify_config();

-- Links created without a key, by hour: at most 5,000 for each publisher.
create table keyless_link_hour (
  pub_id integer not null references publisher,
  hour timestamptz not null,
  links integer not null,
  primary key (pub_id, hour)
);

-- Wrapper redirects that name no known publisher
-- (docs/spec/links-and-tags.md#unattributed-wrapper-redirects).
create table unattributed_redirect (
  day date not null, -- UTC
  slug text not null, -- the publisher as the link names it; empty: it names none
  host text not null, -- of the page with the link; empty: the browser does not send it
  target_host text not null,
  redirects bigint not null,
  primary key (day, slug, host, target_host)
);

-- Whether the target page of an earning link exists.
create table link_check (
  url_hash bytea primary key, -- as in smart_link
  url text not null,
  failed_at timestamptz, -- the first of two failures, an hour apart; null: the last check passed
  dead_since timestamptz, -- null: not dead
  detail text, -- of the last failure, or the reason why the URL is not checked
  due_at timestamptz not null,
  checked_at timestamptz -- null: never
);
create index link_check_due on link_check (due_at);

-- Whether links earn, and since when not. The state at the last hourly look, of new links and of
-- links that were clicked lately.
create table link_health (
  auction_id bigint primary key references smart_link on delete cascade,
  pub_id integer not null,
  article_id integer not null,
  health text not null
    check (health in ('earning', 'no_bid', 'out_of_stock', 'dead', 'disabled', 'new')),
  since timestamptz not null, -- the start of this state
  risk_micros bigint not null, -- its daily earnings before it stopped; 0 while it earns
  checked_at timestamptz not null
);
create index link_health_publisher on link_health (pub_id, risk_micros desc);
