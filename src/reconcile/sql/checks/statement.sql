-- Every issued statement.
select 'publisher ' || found.pub_id || ' ' || to_char(month, 'YYYY-MM') as key,
  compared.name as column_name, coalesce(wanted, 0)::text as expected, had::text as found,
  'releases of publisher ' || found.pub_id as cause
from statement found
left join r_statement derived using (pub_id, month)
cross join lateral (
  values ('opening_micros', opening, opening_micros),
    ('released_micros', released, released_micros),
    ('reversed_micros', reversed, reversed_micros),
    ('payout_micros', payout, payout_micros),
    ('closing_micros', closing, closing_micros)
) as compared (name, wanted, had)
where coalesce(wanted, 0) <> had
