-- Statements told again: debts and money of each merchant stand in a row, and each dollar meets
-- the debt at its place (pay-as-paid, oldest first).

create temp table r_click_debt on commit drop as
select merch_id, pub_id, day, sum(cost) as cost, sum(part) as earnings
from (
  select merch_id, pub_id, day, paid_micros as cost, publisher_micros as part
  from r_click where paid_micros > 0
  union all
  select merch_id, pub_id, reversal_day, -paid_micros, -publisher_micros
  from r_click where paid_micros > 0 and reversal_id is not null
) as clicks
group by merch_id, pub_id, day;

create temp table r_debt on commit drop as
select merch_id, 'clicks:' || pub_id || ':' || day as key, pub_id,
  (day + 1)::timestamp at time zone 'UTC' as due_at, cost, earnings
from r_click_debt;

-- The last word on each order, line by line, with what came back before and after its lock.
create temp table r_sale_line on commit drop as
select target.merch_id, target.order_id, target.pub_id, state.locks_at, line.model, line.line,
  line.quantity, line.commission, line.earnings,
  pg_temp.escaped(target.order_id) || ':' || target.merch_id || ':'
    || pg_temp.escaped(coalesce(product_id, '')) || case when repeat = 1 then '' else ':' || repeat end
    as key
from (
  select distinct on (merch_id, order_id) * from r_target order by merch_id, order_id, n desc
) as target
join r_state state using (merch_id, order_id, n)
join (
  select *, row_number() over (
    partition by merch_id, order_id, n, coalesce(product_id, '') order by line) as repeat
  from r_line
) as line using (merch_id, order_id, n)
where is_counted;

create temp table r_back on commit drop as
with latest as (
  select merch_id, order_id, max(n) as n from r_target group by merch_id, order_id
), counted as (
  select merch_id, order_id, m, return_id, (place - 1)::int as line, was,
    was - coalesce(lag(was) over (
      partition by merch_id, order_id, place order by m), 0) as units
  from r_placed join latest using (merch_id, order_id, n)
  cross join lateral unnest(returned) with ordinality as lines (was, place)
)
select counted.*, told.at as accepted_at
from counted
join r_return goods using (merch_id, order_id, return_id)
join r_told told on told.seq = goods.seq
where units > 0;

-- What came back before the lock lessens the debt, what comes later is taken back from it.
create temp table r_back_line on commit drop as
select back.merch_id, back.order_id, back.line, key, pub_id, return_id, accepted_at,
  accepted_at < locks_at as is_early,
  pg_temp.taken_back(commission, was, quantity)
    - pg_temp.taken_back(commission, was - units, quantity) as commission,
  pg_temp.taken_back(earnings, was, quantity)
    - pg_temp.taken_back(earnings, was - units, quantity) as earnings
from r_sale_line sold join r_back back using (merch_id, order_id, line)
where sold.model = 2;

insert into r_debt
select merch_id, key, pub_id, locks_at, sold.commission - coalesce(early.commission, 0),
  sold.earnings - coalesce(early.earnings, 0)
from r_sale_line sold
left join (
  select merch_id, order_id, line, sum(commission) as commission, sum(earnings) as earnings
  from r_back_line where is_early group by merch_id, order_id, line
) as early using (merch_id, order_id, line);

insert into r_debt
select merch_id, key || ' ' || return_id, pub_id, accepted_at, -commission, -earnings
from r_back_line where not is_early;

create temp table r_owed on commit drop as
select *, coalesce(sum(cost) over before, 0) as place_from,
  coalesce(sum(cost) over before, 0) + cost as place_to
from r_debt where cost > 0 or (cost = 0 and earnings > 0)
window before as (
  partition by merch_id order by due_at, cost = 0, key collate "C"
  rows between unbounded preceding and 1 preceding
);
create index on r_owed (merch_id, place_from);

create temp table r_money on commit drop as
select *, coalesce(sum(amount) over before, 0) as place_from,
  coalesce(sum(amount) over before, 0) + amount as place_to
from (
  select merch_id, at, id::text as payment, amount_micros::numeric as amount from r_payment
  union all
  select merch_id, due_at, '', -cost from r_debt where cost < 0
) as money
window before as (
  partition by merch_id order by at, payment collate "C"
  rows between unbounded preceding and 1 preceding
);

create temp table r_release on commit drop as
select owed.pub_id, greatest(due_at, at) as at,
  div(earnings * (least(owed.place_to, money.place_to) - owed.place_from), cost)
    - div(earnings * (greatest(owed.place_from, money.place_from) - owed.place_from), cost)
    as earnings
from r_owed owed
join r_money money on money.merch_id = owed.merch_id
  and money.place_from < owed.place_to and owed.place_from < money.place_to
where cost > 0
union all
-- What costs nothing is released with the money that covered all before it.
select owed.pub_id, greatest(due_at, at), earnings
from r_owed owed
left join r_money money on money.merch_id = owed.merch_id
  and money.place_from < owed.place_from and owed.place_from <= money.place_to
where cost = 0 and (owed.place_from = 0 or money.merch_id is not null)
union all
select pub_id, due_at, earnings from r_debt where cost < 0 or (cost = 0 and earnings < 0);

create temp table r_statement on commit drop as
with recursive moved as (
  select pub_id, date_trunc('month', at at time zone 'UTC')::date as month,
    sum(earnings) filter (where earnings > 0) as released,
    -sum(earnings) filter (where earnings < 0) as taken_back
  from r_release group by 1, 2
), told as (
  select pub_id, month::date, coalesce(released, 0) as released,
    coalesce(taken_back, 0) as taken_back, row_number() over (partition by pub_id order by month)
      as n
  from (select pub_id, min(month) as first from moved group by pub_id) as publishers
  cross join lateral generate_series(
    first, (select max(month) from statement), interval '1 month') as month
  left join moved using (pub_id, month)
), chain as (
  select 0::bigint as n, pub_id, null::date as month, 0::numeric as opening,
    0::numeric as released, 0::numeric as taken_back, 0::numeric as payout, 0::numeric as closing
  from told where n = 1
  union all
  select told.n, told.pub_id, told.month, chain.closing, told.released, told.taken_back,
    case when balance >= 50000000 then balance - mod(balance, 10000) else 0 end,
    case when balance >= 50000000 then mod(balance, 10000) else balance end
  from chain join told on told.pub_id = chain.pub_id and told.n = chain.n + 1
  cross join lateral (
    select chain.closing + told.released - told.taken_back as balance
  ) as sums
)
select * from chain where n > 0;
