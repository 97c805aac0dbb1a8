-- What each merchant owes each publisher for a day's clicks, less reversals.
select 'merchant ' || merch_id || ' publisher ' || pub_id || ' ' || day || ' of ' || click_day as key,
  compared.name as column_name, wanted::text as expected, had::text as found,
  'paid clicks of ' || click_day as cause
from r_click_debt owed
full join click_debt found using (merch_id, pub_id, day, click_day)
cross join lateral (
  values ('cost_micros', cost, cost_micros),
    ('earnings_micros', earnings, found.earnings_micros)
) as compared (name, wanted, had)
where wanted is distinct from had and day between pg_temp.day_from() and pg_temp.day_to()
