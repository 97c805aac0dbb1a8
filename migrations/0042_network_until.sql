-- What another network's report said before it was replaced stays, for as_of: of each partition
-- one import is shown (until is null), those before it until the next was imported.
alter table network_partition drop constraint network_partition_pkey;
alter table network_partition add column until timestamptz;
alter table network_partition add primary key (import_id);
create unique index network_partition_shown on network_partition (network, account, report_date)
where until is null;

-- Imports that were replaced so far are told again from the log.
insert into network_partition
  (network, account, report_date, import_id, rows_hash, rows, event_id, at, until)
select network, account, report_date, import_id, decode(rows_hash, 'hex'), rows, event_id, at, until
from (
  select told.*, event.id as event_id, event.at,
    lead(event.at) over (partition by network, account, report_date order by event.seq) as until
  from event
  cross join jsonb_to_record(event.body) as told (kind text, network text, account text,
    report_date date, import_id bigint, rows_hash text, rows integer)
  where lane = 0 and type = 15 and kind = 'partition'
    and seq <= (select position from lane where lane = 0)
) as told
where until is not null;
insert into network_row (import_id, row, pub_id, article_id, report_date, advertiser, clicks, sales,
  revenue_micros, earnings_micros)
select import_id, row, event.pub_id, article_id, report_date, advertiser, clicks, sales,
  revenue_micros, earnings_micros
from event
cross join jsonb_to_record(event.body) as told (kind text, import_id bigint, row integer,
  article_id integer, report_date date, advertiser text, clicks bigint, sales bigint,
  revenue_micros bigint, earnings_micros bigint)
where lane = 0 and type = 15 and kind = 'row'
  and seq <= (select position from lane where lane = 0)
on conflict do nothing;
