-- Rows of other networks: every complete import of each partition, until the next one.
with told as (
  select body->>'network' as network, body->>'account' as account,
    (body->>'report_date')::date as report_date, (body->>'import_id')::bigint as import_id,
    (body->>'rows')::int as rows, at, lead(at) over (
      partition by body->>'network', body->>'account', body->>'report_date' order by seq
    ) as until
  from event
  where lane = 0 and type = 15 and body->>'kind' = 'partition'
    and seq <= (select position from lane where lane = 0)
), told_row as (
  select (body->>'import_id')::bigint as import_id, (body->>'row')::int as row, pub_id,
    (body->>'article_id')::int as article_id, (body->>'clicks')::bigint as clicks,
    (body->>'sales')::bigint as sales, (body->>'revenue_micros')::bigint as revenue_micros,
    (body->>'earnings_micros')::bigint as earnings_micros, report_date
  from event join told on told.import_id = (body->>'import_id')::bigint
  where lane = 0 and type = 15 and body->>'kind' = 'row'
    and seq <= (select position from lane where lane = 0)
)
select network || ' ' || account || ' ' || report_date as key, name as column_name,
  wanted as expected, had as found, 'import ' || import_id as cause
from told full join network_partition found using (network, account, report_date, import_id)
cross join lateral (
  values ('rows', told.rows::text, found.rows::text), ('at', told.at::text, found.at::text),
    ('until', told.until::text, found.until::text)
) as compared (name, wanted, had)
where wanted is distinct from had
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
