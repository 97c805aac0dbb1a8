-- Daily totals of the log's views: what stays of them after RETENTION_DAYS.

-- A day of one lane: how far into the lane its totals reach, and their signature. From `dropping`
-- on the totals stand for the events up to `seq`, which are being deleted or gone.
create table view_day (
  day date not null,
  lane smallint not null,
  seq bigint not null,
  events bigint not null,
  key_id smallint not null, -- of SOUK_SECRETS
  signature bytea not null,
  state text not null default 'written' check (state in ('written', 'dropping', 'dropped')),
  primary key (day, lane)
);

-- Events that are alike in everything that figures are made of, counted.
create table view_total (
  day date not null,
  lane smallint not null,
  type smallint not null,
  reason smallint not null,
  pub_id integer,
  url_key bytea, -- of page impressions
  auction_id bigint, -- of links and placements
  merch_id integer, -- of placements and shop views
  events bigint not null,
  counted bigint not null, -- page impressions: without those of sessions seen before
  unique nulls not distinct (day, lane, type, reason, pub_id, url_key, auction_id, merch_id)
);

-- Writes a day's partition anew without what was deleted from it, and gives the space back: only
-- views are, so that almost nothing is left. Readers wait for it, appends to other days do not.
create function compact_event_partition(d date) returns void language plpgsql as $$
declare
  name text := 'event_' || to_char(d, 'YYYYMMDD');
begin
  if to_regclass(name) is not null then
    execute format('cluster %I using %I', name, name || '_pkey');
  end if;
end
$$;
