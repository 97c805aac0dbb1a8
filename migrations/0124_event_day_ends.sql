-- Reading on from a position asked the index of every day that there ever was: 20 ms after two
-- years. Of a day that is over it is kept where its lanes end, so only those days are opened that
-- hold something beyond the position.
create table event_day_end (
  lane smallint not null,
  day date not null,
  -- At least that of the lane's last event of the day. After something came late it is the highest
  -- number that there is, until the day is closed again.
  seq bigint not null,
  primary key (lane, day)
);
create index event_day_end_seq on event_day_end (lane, seq);

-- Days from here on are open: their ends are not kept, because most events go there.
create table event_open (
  is_only boolean primary key default true check (is_only),
  from_day date not null default '-infinity'
);
insert into event_open default values;

-- For each late event. Only the first one writes: a batch of hundreds would else update one row so
-- often that each update has to pass the versions of all earlier ones.
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

-- The days of the default partition are never open: it is looked into like a day that is over. The
-- trigger first, which waits for appends that are under way: what they bring is told after that.
create trigger note_late_event after insert on event_default
  for each row execute function note_late_event();
insert into event_day_end (lane, day, seq)
select lane, day, max(seq) from event_default group by lane, day;

-- Of a day without a partition, the default one holds what there is. The lock waits for appends
-- that are under way; later ones find the trigger.
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
       (select seq from %I as told where told.lane = lane.lane order by seq desc limit 1), 0)
     from lane
     on conflict (lane, day) do update set seq = excluded.seq', d, name);
end
$$;

-- Closes the oldest day before another one that is open, or was opened by a late event; false when
-- there is none.
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

create or replace function create_event_partition(d date) returns boolean language plpgsql as $$
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

-- The first day that may hold events of a lane beyond a position.
create function first_unread_day(of_lane int, beyond bigint) returns date language sql stable as $$
  select least(from_day, (
    select min(day) from event_day_end where lane = of_lane and seq > beyond))
  from event_open
$$;
