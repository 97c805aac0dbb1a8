-- Rows of other networks: the latest complete import of each partition.
with told as (
  select distinct on (body->>'network', body->>'account', body->>'report_date')
    body->>'network' as network, body->>'account' as account,
    (body->>'report_date')::date as report_date, (body->>'import_id')::bigint as import_id,
    (body->>'rows')::int as rows
  from event
  where lane = 0 and type = 15 and body->>'kind' = 'partition'
    and seq <= (select position from lane where lane = 0)
  order by body->>'network', body->>'account', body->>'report_date', seq desc
), told_row as (
  select (body->>'import_id')::bigint as import_id, (body->>'row')::int as row, pub_id,
    (body->>'article_id')::int as article_id, (body->>'clicks')::bigint as clicks,
    (body->>'sales')::bigint as sales, (body->>'revenue_micros')::bigint as revenue_micros,
    (body->>'earnings_micros')::bigint as earnings_micros, report_date
  from event join told on told.import_id = (body->>'import_id')::bigint
  where lane = 0 and type = 15 and body->>'kind' = 'row'
    and seq <= (select position from lane where lane = 0)
)
select network || ' ' || account || ' ' || report_date as key, 'import_id' as column_name,
  told.import_id::text as expected, found.import_id::text as found,
  'import ' || coalesce(told.import_id, found.import_id) as cause
from told full join network_partition found using (network, account, report_date)
where (told.import_id, told.rows) is distinct from (found.import_id, found.rows)
  and report_date between pg_temp.day_from() and pg_temp.day_to()
union all
select import_id || ' row ' || row, name, wanted::text, had::text, 'import ' || import_id
from told_row
full join (
  select network_row.* from network_row join network_partition using (import_id, report_date)
) as found using (import_id, row)
cross join lateral (
  values ('pub_id', told_row.pub_id::bigint, found.pub_id::bigint),
    ('article_id', told_row.article_id, found.article_id),
    ('clicks', told_row.clicks, found.clicks), ('sales', told_row.sales, found.sales),
    ('revenue_micros', told_row.revenue_micros, found.revenue_micros),
    ('earnings_micros', told_row.earnings_micros, found.earnings_micros)
) as compared (name, wanted, had)
where wanted is distinct from had
  and coalesce(told_row.report_date, found.report_date)
    between pg_temp.day_from() and pg_temp.day_to()
