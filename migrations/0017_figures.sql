-- Daily figures, and every change of them. Only the fold writes these tables. Days are UTC.

create table stats_day (
  day date not null,
  pub_id integer not null,
  article_id integer not null,
  merch_id integer not null,
  clicks bigint not null default 0, -- valid
  invalid_clicks bigint not null default 0,
  placements bigint not null default 0,
  sales bigint not null default 0,
  revenue_micros bigint not null default 0,
  earnings_micros bigint not null default 0,
  -- Reports list this row. Its figures may return to zero, and invalid clicks alone list no row.
  is_row boolean not null default true,
  placed_at timestamptz, -- a placement created the row then; null: something else did
  primary key (pub_id, day, article_id, merch_id)
);
-- The default order of the statistics: the first rows of a long range are read without sorting all
-- of them. Only clicks move a row in it.
create index stats_day_clicks on stats_day (pub_id, clicks desc, day desc, article_id, merch_id);
create index stats_day_placed on stats_day (pub_id, placed_at) where placed_at is not null;
-- A merchant's page sums its figures by day and publisher.
create index stats_day_merchant on stats_day (merch_id, day);

-- Every change of a row of stats_day, and its cause. The figures at any time are the sum of the
-- changes until then. A click that no budget could pay creates a row with zeros.
create table stats_change (
  change_id bigint generated always as identity primary key,
  changed_at timestamptz not null default now(),
  cause text not null, -- click, order, revision, return, reversal
  event_ids bigint[] not null,
  day date not null,
  pub_id integer not null,
  article_id integer not null,
  merch_id integer not null,
  clicks bigint not null default 0,
  sales bigint not null default 0,
  revenue_micros bigint not null default 0,
  earnings_micros bigint not null default 0
);
create index stats_change_publisher on stats_change (pub_id, changed_at);
create trigger stats_change_append_only before update or delete on stats_change
  for each row execute function refuse_change();

create table link_day (
  pub_id integer not null,
  auction_id bigint not null,
  day date not null,
  impressions bigint not null default 0,
  viewable_impressions bigint not null default 0,
  primary key (pub_id, auction_id, day)
);

-- A page impression counts once for each publisher and session.
create table page_session (
  pub_id integer not null,
  session_key bytea not null,
  day date not null,
  primary key (pub_id, session_key)
);
create index page_session_day on page_session (day);

-- By URL instead of article, so that an article created later that day still gets its views.
create table page_day (
  pub_id integer not null,
  url_key bytea not null, -- hash of the canonical URL
  day date not null,
  impressions bigint not null default 0,
  robot_impressions bigint not null default 0,
  -- Views are the one figure without rows in stats_change: they are a hundred times as many.
  changed_at timestamptz not null default now(),
  primary key (pub_id, url_key, day)
);
create index page_day_changed on page_day (pub_id, changed_at);
create index page_day_day on page_day (pub_id, day); -- the days at the ends of a breakdown

-- Page views of a publisher by host and consent, as its page tag reports them.
create table tag_day (
  pub_id integer not null,
  day date not null,
  host text not null,
  consent smallint not null, -- as in event
  page_views bigint not null,
  last_at timestamptz not null,
  primary key (pub_id, day, host, consent)
);
