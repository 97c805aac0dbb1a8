-- Every row of the statistics that changed is told, with why: also those that appeared with zeros,
-- and those of other networks.

-- A click that no budget could pay makes a row and moves no figure: its change is kept as well.
insert into stats_change (changed_at, cause, event_ids, day, pub_id, article_id, merch_id)
select distinct on (day, pub_id, article_id, merch_id)
  at, 'click', array[event_id], day, pub_id, article_id, merch_id
from click
where reason = 6
order by day, pub_id, article_id, merch_id, at;

-- When a placement made the row; null where something else did. When those of old came, only the
-- log could tell: the end of their day.
alter table stats_day add column placed_at timestamptz;
update stats_day set placed_at = (day + 1)::timestamp at time zone 'UTC' where placements > 0;
create index stats_day_placed on stats_day (pub_id, placed_at) where placed_at is not null;

-- Imports in the order in which they came to be shown.
alter table network_partition add column partition_no bigint;
update network_partition set partition_no = place
from (
  select import_id, row_number() over (order by at, event_id) as place from network_partition
) as placed
where placed.import_id = network_partition.import_id;
alter table network_partition alter column partition_no set not null,
  alter column partition_no add generated always as identity;
select setval(pg_get_serial_sequence('network_partition', 'partition_no'),
  (select coalesce(max(partition_no), 0) + 1 from network_partition), false);
create unique index network_partition_no on network_partition (partition_no);
