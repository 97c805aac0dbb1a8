-- Figures by the properties of a click, for publishers' breakdowns in any time zone
-- (docs/spec/management.md#breakdown). Only the fold writes these tables.

-- Every change of the figures, with its time and the properties of its click.
create table click_figure (
  at timestamptz not null,
  pub_id integer not null,
  article_id integer not null,
  auction_id bigint not null,
  merch_id integer not null,
  product_id bigint, -- null: the click led to no offer
  device smallint not null, -- as in event
  country text not null, -- '': unknown
  u1 text not null, -- '': none
  clicks smallint not null,
  invalid_clicks smallint not null,
  orders integer not null,
  revenue_micros bigint not null,
  earnings_micros bigint not null
);
create index click_figure_publisher on click_figure (pub_id, at);
-- For the changes of some days of all publishers. Rows lie in the order of time.
create index click_figure_at on click_figure using brin (at);

-- The start of a quarter of an hour. Each time zone's midnight lies a multiple of a quarter of an
-- hour away from that of UTC.
create function quarter_hour(at timestamptz) returns timestamptz
language sql immutable parallel safe
as $function$ select date_bin('15 minutes', at, '2000-01-01 00:00:00+00') $function$;

-- Totals by quarter of an hour.
create table figure_slot (
  pub_id integer not null,
  slot timestamptz not null, -- the start of a quarter of an hour
  clicks bigint not null,
  invalid_clicks bigint not null,
  orders bigint not null,
  revenue_micros bigint not null,
  earnings_micros bigint not null,
  primary key (pub_id, slot)
);

-- Daily totals (UTC) by one property of the click; stats_day has those by article and merchant.
create table figure_day (
  pub_id integer not null,
  property text collate "C" not null
    check (property in ('link', 'product', 'device', 'country', 'u1')),
  day date not null,
  value text collate "C" not null, -- '': unknown or none
  clicks bigint not null,
  invalid_clicks bigint not null,
  orders bigint not null,
  revenue_micros bigint not null,
  earnings_micros bigint not null,
  primary key (pub_id, property, day, value)
);

-- The first day of a span of 7 or 28 days. Both begin on Mondays, and every span of 28 days is four
-- spans of 7 days.
create function span_begin(day date, width integer) returns date
language sql immutable parallel safe
as $function$ select day - ((day - date '2000-01-03') % width + width) % width $function$;

-- Totals of 7 and 28 days: a breakdown of 90 days reads a fifth of the rows.
create table figure_span (
  pub_id integer not null,
  property text collate "C" not null
    check (property in ('article', 'link', 'merchant', 'product', 'device', 'country', 'u1')),
  width smallint not null check (width in (7, 28)), -- days
  first_day date not null,
  value text collate "C" not null, -- '': unknown or none
  clicks bigint not null,
  invalid_clicks bigint not null,
  orders bigint not null,
  revenue_micros bigint not null,
  earnings_micros bigint not null,
  primary key (pub_id, property, width, first_day, value)
) with (fillfactor = 85); -- room for updates in place: a span changes for weeks

-- Page views of one URL by quarter of an hour; page_day has their daily totals.
create table page_slot (
  pub_id integer not null,
  url_key bytea not null,
  slot timestamptz not null,
  impressions bigint not null,
  primary key (pub_id, url_key, slot)
);
-- For the views of some days of all publishers. Rows lie in the order of time.
create index page_slot_time on page_slot using brin (slot);

-- Page views of 7 and 28 days.
create table page_span (
  pub_id integer not null,
  width smallint not null check (width in (7, 28)), -- days
  first_day date not null,
  url_key bytea not null,
  impressions bigint not null,
  primary key (pub_id, width, first_day, url_key)
) with (fillfactor = 85);

-- Page views of all articles of a publisher by quarter of an hour.
create table view_slot (
  pub_id integer not null,
  slot timestamptz not null,
  impressions bigint not null,
  primary key (pub_id, slot)
);

-- Views of a page count from the day on which its article is created, also earlier ones of that
-- day. The lock excludes the fold: otherwise neither might see the other's rows.
create function count_earlier_views() returns trigger language plpgsql as $function$
begin
  perform pg_advisory_xact_lock('article'::regclass::int, new.pub_id);
  insert into view_slot as total (pub_id, slot, impressions)
  select pub_id, slot, impressions from page_slot
  where pub_id = new.pub_id and url_key = new.url_key
    and slot >= date_trunc('day', new.datetime_created, 'UTC')
  order by slot
  on conflict (pub_id, slot) do update set impressions = total.impressions + excluded.impressions;
  return null;
end $function$;
create trigger article_views after insert on article
  for each row execute function count_earlier_views();
