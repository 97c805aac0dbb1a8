-- Rows of other networks: every complete import of each partition, until the next one.
with logged as (
  select body->>'network' as network, body->>'account' as account,
    (body->>'report_date')::date as report_date, (body->>'import_id')::bigint as import_id,
    (body->>'rows')::int as rows, at, lead(at) over (
      partition by body->>'network', body->>'account', body->>'report_date' order by seq
    ) as until
  from event
  where lane = 0 and type = 15 and body->>'kind' = 'partition'
    and seq <= (select position from lane where lane = 0)
), logged_row as (
  select (body->>'import_id')::bigint as import_id, (body->>'row')::int as row, pub_id,
    (body->>'article_id')::int as article_id, (body->>'clicks')::bigint as clicks,
    (body->>'sales')::bigint as sales, (body->>'revenue_micros')::bigint as revenue_micros,
    (body->>'earnings_micros')::bigint as earnings_micros, body->>'advertiser' as advertiser,
    body->>'transaction_id' as transaction_id, body->>'original_id' as original_id,
    body->>'order_id' as order_id, body->>'item' as item, body->>'posted' as posted,
    body->>'amounts' as amounts, (body->>'are_sales_reported')::boolean as are_sales_reported,
    report_date
  from event join logged on logged.import_id = (body->>'import_id')::bigint
  where lane = 0 and type = 15 and body->>'kind' = 'row'
    and seq <= (select position from lane where lane = 0)
)
select network || ' ' || account || ' ' || report_date as key, name as column_name,
  wanted as expected, had as found, 'import ' || import_id as cause
from logged full join network_partition found using (network, account, report_date, import_id)
cross join lateral (
  values ('rows', logged.rows::text, found.rows::text), ('at', logged.at::text, found.at::text),
    ('until', logged.until::text, found.until::text)
) as compared (name, wanted, had)
where wanted is distinct from had
  and report_date between pg_temp.day_from() and pg_temp.day_to()
union all
select import_id || ' row ' || row, name, wanted, had, 'import ' || import_id
from logged_row
full join (
  select network_row.* from network_row join network_partition using (import_id, report_date)
) as found using (import_id, row)
cross join lateral (
  values ('pub_id', logged_row.pub_id::text, found.pub_id::text),
    ('article_id', logged_row.article_id::text, found.article_id::text),
    ('clicks', logged_row.clicks::text, found.clicks::text),
    ('sales', logged_row.sales::text, found.sales::text),
    ('revenue_micros', logged_row.revenue_micros::text, found.revenue_micros::text),
    ('earnings_micros', logged_row.earnings_micros::text, found.earnings_micros::text),
    ('advertiser', logged_row.advertiser, found.advertiser),
    ('transaction_id', logged_row.transaction_id, found.transaction_id),
    ('original_id', logged_row.original_id, found.original_id),
    ('order_id', logged_row.order_id, found.order_id), ('item', logged_row.item, found.item),
    ('posted', logged_row.posted, found.posted), ('amounts', logged_row.amounts, found.amounts),
    ('are_sales_reported', logged_row.are_sales_reported::text, found.are_sales_reported::text)
) as compared (name, wanted, had)
where wanted is distinct from had
  and coalesce(logged_row.report_date, found.report_date)
    between pg_temp.day_from() and pg_temp.day_to()
