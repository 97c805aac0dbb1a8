-- The event log: the truth that every figure and every cent is a fold of (architecture I1–I3).

create sequence event_seq;

-- Typed columns rather than a document: half the bytes, and reconcile reads it in plain SQL.
-- Which columns a type fills is said in src/events/event.ts.
create table event (
  day date not null, -- the UTC day on which the edge accepted it
  id bigint not null, -- given once at the edge; a retried write conflicts on (day, id)
  seq bigint not null default nextval('event_seq'), -- commit order within a lane
  lane smallint not null check (lane between 0 and 15), -- 0 money, 1–15 views by publisher
  type smallint not null,
  at timestamptz not null, -- accepted
  reason smallint not null default 0, -- the edge's own verdict; 0: nothing against it
  pub_id integer,
  session_key bytea,
  auction_id bigint,
  result_number bytea,
  merch_id integer,
  campaign_id integer,
  offer_id bigint,
  model smallint, -- 0 none, 1 cpc, 2 cpa, 3 epp
  price_micros bigint,
  share_ppm integer,
  lease_id bigint,
  reserved_micros bigint,
  click_id bytea,
  visitor_key bytea,
  address_key bytea,
  result_age_ms bigint,
  device smallint, -- 0 unknown, 1 desktop, 2 mobile, 3 tablet
  ua_family text,
  country text,
  consent smallint, -- 0 unknown, 1 full, 2 contextual
  url text,
  url_key bytea,
  referrer text, -- origin and path only
  u1 text,
  utm_source text,
  body jsonb, -- orders, returns and the other rare ones
  primary key (day, id)
) partition by range (day);
create index event_lane on event (lane, seq);

-- What lies outside the partitions that upkeep has made is still accepted.
create table event_default partition of event default;

-- Makes the partition of a day; false when it exists. Made apart and then attached, because that
-- lets appends go on meanwhile; `create table … partition of` would stop them all. What the
-- default partition holds of the day moves over.
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
  return true;
end
$$;

-- How far each lane has been folded; committed with the fold's own results (I3).
create table lane (
  lane smallint primary key,
  position bigint not null default 0,
  watermark timestamptz not null default '-infinity' -- accepted-at of the last event folded
);
insert into lane (lane) select generate_series(0, 15);
