-- Figures by everything that is known of a click, for publishers' breakdowns in any time zone.

-- Each change of the figures, with its time and the properties of its click.
create table click_figure (
  at timestamptz not null,
  pub_id integer not null,
  article_id integer not null,
  auction_id bigint not null,
  merch_id integer not null,
  product_id bigint, -- null: the click led to no offer
  device smallint not null,
  country text not null, -- '': unknown
  u1 text not null, -- '': none
  clicks smallint not null,
  invalid_clicks smallint not null,
  orders integer not null,
  revenue_micros bigint not null,
  earnings_micros bigint not null
);

-- A time zone's midnight is a multiple of a quarter of an hour away from that of UTC.
create function quarter_hour(at timestamptz) returns timestamptz
language sql immutable parallel safe
as $function$ select date_bin('15 minutes', at, '2000-01-01 00:00:00+00') $function$;

create table figure_slot (
  pub_id integer not null,
  slot timestamptz not null, -- the begin of a quarter of an hour
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

-- Readers' page views; page_day has their daily totals.
create table page_slot (
  pub_id integer not null,
  url_key bytea not null,
  slot timestamptz not null,
  impressions bigint not null,
  primary key (pub_id, url_key, slot)
);

-- Page views of all articles of a publisher.
create table view_slot (
  pub_id integer not null,
  slot timestamptz not null,
  impressions bigint not null,
  primary key (pub_id, slot)
);

-- Views of a page count from the day on which its article is created, also those before it that day.
-- The lock excludes the fold, which otherwise might not see the article, nor be seen.
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

-- What is known so far.
insert into click_figure
select c.at, c.pub_id, c.article_id, c.auction_id, c.merch_id, o.product_id,
  coalesce(e.device, 0), coalesce(e.country, ''), coalesce(e.u1, ''),
  (c.reason = 0)::int, (c.reason <> 0)::int, 0, 0, c.publisher_micros
from click c
left join event e on e.day = c.day and e.id = c.event_id
left join clicked_offer o on (o.offer_id, o.from_generation) = (c.offer_id, c.offer_generation)
order by c.event_id;

insert into click_figure
select c.reversed_at, c.pub_id, c.article_id, c.auction_id, c.merch_id, o.product_id,
  coalesce(e.device, 0), coalesce(e.country, ''), coalesce(e.u1, ''),
  -1, 1, 0, 0, -c.publisher_micros
from click c
left join event e on e.day = c.day and e.id = c.event_id
left join clicked_offer o on (o.offer_id, o.from_generation) = (c.offer_id, c.offer_generation)
where c.reversed_at is not null and c.reason = 0;

-- Changes of one moment that were stored together count for the click of the first.
insert into click_figure
select coalesce(told.at, (change.day + interval '12 hours') at time zone 'UTC'), change.pub_id, change.article_id,
  coalesce(c.auction_id, 0), change.merch_id, o.product_id,
  coalesce(e.device, 0), coalesce(e.country, ''), coalesce(e.u1, ''),
  0, 0, change.sales, change.revenue_micros, change.earnings_micros
from stats_change change
left join event told on told.day = change.day and told.id = change.event_ids[1]
left join merchant_order owed
  on (owed.merch_id, owed.order_id) = (told.merch_id, told.body ->> 'order_id')
left join lateral (
  select * from click
  where click_id = coalesce(owed.click_id, decode(told.body ->> 'click_id', 'hex'))
  limit 1
) c on true
left join event e on e.day = c.day and e.id = c.event_id
left join clicked_offer o on (o.offer_id, o.from_generation) = (c.offer_id, c.offer_generation)
where change.cause in ('order', 'revision', 'return');

create index click_figure_publisher on click_figure (pub_id, at);

insert into figure_slot
select pub_id, quarter_hour(at), sum(clicks), sum(invalid_clicks), sum(orders),
  sum(revenue_micros), sum(earnings_micros)
from click_figure group by 1, 2;

insert into figure_day
select pub_id, property, (at at time zone 'UTC')::date, value, sum(clicks), sum(invalid_clicks),
  sum(orders), sum(revenue_micros), sum(earnings_micros)
from click_figure cross join lateral (values
  ('link', auction_id::text), ('product', coalesce(product_id::text, '')),
  ('device', device::text), ('country', country), ('u1', u1)
) as named (property, value)
group by 1, 2, 3, 4;

-- As the fold counted them: a session once, at its first page.
insert into page_slot
select pub_id, url_key, quarter_hour(at), count(*)
from (
  select distinct on (event.pub_id, event.session_key) event.pub_id, url_key, at
  from event join lane using (lane)
  where type = 1 and reason = 0 and seq <= position and event.pub_id is not null
    and event.session_key is not null and url_key is not null
  order by event.pub_id, event.session_key, seq
) as first_view
group by 1, 2, 3;
-- Days whose views are no longer in the log have no time of day any more: they count at noon.
insert into page_slot as total
select pub_id, url_key, (day + interval '12 hours') at time zone 'UTC', impressions - known
from page_day
left join lateral (
  select coalesce(sum(slot.impressions), 0) as known from page_slot slot
  where slot.pub_id = page_day.pub_id and slot.url_key = page_day.url_key
    and slot.slot >= day::timestamp at time zone 'UTC'
      and slot.slot < (day + 1)::timestamp at time zone 'UTC'
) as slots on true
where impressions <> known
on conflict (pub_id, url_key, slot)
  do update set impressions = total.impressions + excluded.impressions;

insert into view_slot
select pub_id, slot, sum(impressions)
from page_slot join article using (pub_id, url_key)
where slot >= date_trunc('day', article.datetime_created, 'UTC')
group by 1, 2;

create trigger article_views after insert on article
  for each row execute function count_earlier_views();

-- The names of products that readers clicked.
create index clicked_offer_product on clicked_offer using hash (product_id);
