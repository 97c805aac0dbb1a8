-- The event log: every figure and every cent is a fold of it (ARCHITECTURE.md, I1 to I3).

create sequence event_seq;

-- Typed columns instead of a document: half the bytes, and reconcile reads it in plain SQL.
-- src/events/event.ts lists the columns that each type fills. The others are null.
create table event (
  day date not null, -- the UTC day on which the edge accepted it
  id bigint not null, -- assigned once at the edge; a retried write conflicts on (day, id)
  seq bigint not null default nextval('event_seq'), -- commit order within a lane
  lane smallint not null check (lane between 0 and 15), -- 0: money; 1 to 15: views, by publisher
  type smallint not null,
  at timestamptz not null, -- accepted
  reason smallint not null default 0, -- the edge's verdict; 0: no objection
  pub_id integer,
  session_key bytea, -- the keys are keyed hashes: hash_key
  auction_id bigint, -- of the smart link
  result_number bytea, -- of the auction result
  merch_id integer,
  campaign_id integer,
  offer_id bigint,
  model smallint, -- 0 none, 1 cpc, 2 cpa, 3 epp
  terms_amount bigint, -- of the sealed terms, in the unit of the model: src/events/pay-terms.ts
  share_ppm integer, -- the publisher's part of the price, in millionths
  lease_id bigint,
  reserved_micros bigint, -- from the lease
  click_id bytea,
  visitor_key bytea,
  address_key bytea, -- of the address unit
  result_age_ms bigint, -- from auction to click
  device smallint, -- 0 unknown, 1 desktop, 2 mobile, 3 tablet
  ua_family text,
  country text,
  consent smallint, -- 0 unknown, 1 full, 2 contextual
  url text,
  url_key bytea, -- hash of the canonical URL
  referrer text, -- origin and path only
  u1 text,
  utm_source text,
  body jsonb, -- of the rare types, such as orders and returns
  -- The rules on paid clicks read these four (docs/spec/clicks.md#rules).
  agent_key bytea, -- of address unit and user agent; null: rules by address do not apply
  visitor_returned smallint, -- 1: the browser sent our cookie, else 0; null: not a click
  address_hour_max integer, -- the campaign's limits per address unit, as of the click
  address_day_max integer,
  primary key (day, id)
) partition by range (day);
create index event_lane on event (lane, seq);

-- Accepts events whose day has no partition yet.
create table event_default partition of event default;

-- The position up to which the fold has read each lane; committed with the fold's results (I3).
create table lane (
  lane smallint primary key,
  position bigint not null default 0,
  watermark timestamptz not null default '-infinity' -- accepted time of the last folded event
);
insert into lane (lane) select generate_series(0, 15);

-- The ends of the lanes on past days. A reader that continues from a position opens only the days
-- with events beyond it. Asking the index of every day took 20 ms after two years.
create table event_day_end (
  lane smallint not null,
  day date not null,
  -- At least the number of the lane's last event of the day. A late event sets it to the highest
  -- possible number, until the day is closed again.
  seq bigint not null,
  primary key (lane, day)
);
create index event_day_end_seq on event_day_end (lane, seq);

-- Days from here on are open: their ends are not stored, because most events arrive there.
create table event_open (
  is_only boolean primary key default true check (is_only),
  from_day date not null default '-infinity'
);
insert into event_open default values;

-- Runs for each late event. Only the first one writes: otherwise a batch of hundreds would update
-- one row so often that each update has to pass the versions of all earlier ones.
create function note_late_event() returns trigger language plpgsql as $$
declare
  highest constant bigint := 9223372036854775807;
begin
  if not exists (
    select from event_day_end where lane = new.lane and day = new.day and seq = highest)
  then
    insert into event_day_end (lane, day, seq) values (new.lane, new.day, highest)
    on conflict (lane, day) do update set seq = highest;
  end if;
  return null;
end
$$;

-- The days of the default partition are never open: it is read like a day that is over.
create trigger note_late_event after insert on event_default
  for each row execute function note_late_event();

-- The default partition holds the events of a day without its own partition. The lock waits for
-- running appends; later ones find the trigger.
create function close_event_day(d date) returns void language plpgsql as $$
declare
  name text := 'event_' || to_char(d, 'YYYYMMDD');
begin
  if to_regclass(name) is null then
    name := 'event_default';
  end if;
  execute format('lock table %I in share row exclusive mode', name);
  execute format(
    'create or replace trigger note_late_event after insert on %I
     for each row execute function note_late_event()', name);
  execute format(
    'insert into event_day_end (lane, day, seq)
     select lane.lane, %L, coalesce(
       (select seq from %I as logged where logged.lane = lane.lane order by seq desc limit 1), 0)
     from lane
     on conflict (lane, day) do update set seq = excluded.seq', d, name);
end
$$;

-- Closes the oldest day before the given one that is open, or that a late event opened again.
-- Returns false if there is none.
create function close_next_event_day(before date) returns boolean language plpgsql as $$
declare
  next_day date;
begin
  perform pg_advisory_xact_lock('event'::regclass::int, 0); -- as for making partitions
  select min(day) into next_day from (
    select to_date(right(relname, 8), 'YYYYMMDD') as day
    from pg_inherits join pg_class on oid = inhrelid
    where inhparent = 'event'::regclass and relname ~ '^event_\d{8}$'
      and to_date(right(relname, 8), 'YYYYMMDD') >= (select from_day from event_open)
    union all
    select day from event_day_end where seq = 9223372036854775807
  ) as not_closed
  where day < before;
  if next_day is not null then
    perform close_event_day(next_day);
  end if;
  update event_open set from_day = greatest(from_day, coalesce(next_day + 1, before));
  return next_day is not null;
end
$$;

-- The first day that may contain events of a lane beyond a position.
create function first_unread_day(of_lane int, beyond bigint) returns date language sql stable as $$
  select least(from_day, (
    select min(day) from event_day_end where lane = of_lane and seq > beyond))
  from event_open
$$;

-- Creates the partition of a day and moves the day's events out of the default partition; returns
-- false if the partition exists. It is created apart and then attached, so that appends continue
-- meanwhile: `create table … partition of` would stop them all.
create function create_event_partition(d date) returns boolean language plpgsql as $$
declare
  name text := 'event_' || to_char(d, 'YYYYMMDD');
begin
  perform pg_advisory_xact_lock('event'::regclass::int, 0); -- nodes that start together take turns
  if to_regclass(name) is not null then
    return false;
  end if;
  lock table event_default in access exclusive mode; -- the attaching needs it anyway
  execute format('create table %I (like event including all)', name);
  execute format(
    'with moved as (delete from event_default where day = %L returning *)
     insert into %I select * from moved', d, name);
  execute format(
    'alter table event attach partition %I for values from (%L) to (%L)', name, d, d + 1);
  if d < (select from_day from event_open) then
    perform close_event_day(d);
  end if;
  return true;
end
$$;

-- Rewrites a day's partition without its deleted rows, and returns the disk space. Almost nothing
-- is left of it then, because views are most of the log and only views are deleted. Readers wait
-- meanwhile; appends to other days do not.
create function compact_event_partition(d date) returns void language plpgsql as $$
declare
  name text := 'event_' || to_char(d, 'YYYYMMDD');
begin
  if to_regclass(name) is not null then
    execute format('cluster %I using %I', name, name || '_pkey');
  end if;
end
$$;

-- Keys of the hashes that stand for sessions, visitors and addresses in the log. Within a key's
-- period equal values stay equal. Once the key is deleted, nobody can be looked up.
create table hash_key (
  purpose text not null check (purpose in ('session', 'visitor', 'address')),
  epoch integer not null, -- whole periods since 1970: 30 days, for addresses 2 days
  key bytea not null,
  primary key (purpose, epoch)
);

-- One day of one view lane whose events are summed in view_total, so that they can be deleted after
-- RETENTION_DAYS. From `dropping` on the totals replace the events up to `seq`.
create table view_day (
  day date not null,
  lane smallint not null,
  seq bigint not null, -- the last event in the totals
  events bigint not null,
  key_id smallint not null, -- of SOUK_SECRETS
  signature bytea not null, -- of the day's totals
  state text not null default 'written' check (state in ('written', 'dropping', 'dropped')),
  primary key (day, lane)
);

-- Counts of events that are equal in everything that figures use.
create table view_total (
  day date not null,
  lane smallint not null,
  type smallint not null,
  reason smallint not null,
  pub_id integer,
  url_key bytea, -- of page impressions, else null
  auction_id bigint, -- of links and placements, else null
  merch_id integer, -- of placements and shop views, else null
  events bigint not null,
  counted bigint not null, -- page impressions: without those of sessions seen before
  unique nulls not distinct (day, lane, type, reason, pub_id, url_key, auction_id, merch_id)
);
