-- Totals of 7 and 28 days beside the daily ones: a breakdown of 90 days reads a fifth of the rows.

-- Every span of 28 days is four of 7 days. Both begin on Mondays.
create function span_begin(day date, width integer) returns date
language sql immutable parallel safe
as $function$ select day - ((day - date '2000-01-03') % width + width) % width $function$;

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
) with (fillfactor = 85); -- Room for updates in place: a span changes for weeks.

-- Readers' page views of 7 and 28 days.
create table page_span (
  pub_id integer not null,
  width smallint not null check (width in (7, 28)),
  first_day date not null,
  url_key bytea not null,
  impressions bigint not null,
  primary key (pub_id, width, first_day, url_key)
) with (fillfactor = 85);

-- What is known so far.
insert into figure_span (pub_id, property, width, first_day, value, clicks, invalid_clicks, orders,
  revenue_micros, earnings_micros)
select pub_id, property, width, span_begin(day, width), value, sum(clicks), sum(invalid_clicks),
  sum(orders), sum(revenue_micros), sum(earnings_micros)
from (
  select pub_id, property, day, value, clicks, invalid_clicks, orders, revenue_micros,
    earnings_micros
  from figure_day
  union all
  select pub_id, property, day, value, clicks, invalid_clicks, sales, revenue_micros,
    earnings_micros
  from stats_day cross join lateral (values
    ('article', article_id::text), ('merchant', merch_id::text)
  ) as named (property, value)
  -- Placements make rows without figures.
  where (clicks, invalid_clicks, sales, revenue_micros, earnings_micros) <> (0, 0, 0, 0, 0)
) as daily cross join (values (7), (28)) as span (width)
group by 1, 2, 3, 4, 5
order by 1, 2, 3, 4, 5;

insert into page_span (pub_id, width, first_day, url_key, impressions)
select pub_id, width, span_begin(day, width), url_key, sum(impressions)
from page_day cross join (values (7), (28)) as span (width)
where impressions <> 0
group by 1, 2, 3, 4
order by 1, 2, 3, 4;

-- The days at the ends of a breakdown.
create index page_day_day on page_day (pub_id, day);

-- For the changes of some days of all publishers. Rows lie in the order of time.
create index click_figure_at on click_figure using brin (at);
create index page_slot_time on page_slot using brin (slot);
