-- Recomputes the statements. A merchant's debts form a queue, and each dollar meets the debt at its
-- place (oldest first). Reversals meet their own debt first.

create temp table r_click_debt on commit drop as
select merch_id, pub_id, day, click_day, sum(cost) as cost, sum(part) as earnings
from (
  select merch_id, pub_id, day, day as click_day, merchant_cost_micros as cost,
    publisher_earnings_micros as part
  from r_click where merchant_cost_micros > 0
  union all
  select merch_id, pub_id, reversal_day, day, -merchant_cost_micros, -publisher_earnings_micros
  from r_click where merchant_cost_micros > 0 and reversal_id is not null
) as clicks
group by merch_id, pub_id, day, click_day;

-- A reversal names its debt (own) and does not fall due before it.
create temp table r_debt on commit drop as
select merch_id, own || case when click_day = day then '' else ' ' || day end as key, own, pub_id,
  (greatest(day, click_day) + 1)::timestamp at time zone 'UTC' as due_at, cost, earnings
from r_click_debt
cross join lateral (select 'clicks:' || pub_id || ':' || click_day as own) as named;

-- The last state of each order, line by line, with returns before and after its lock.
create temp table r_sale_line on commit drop as
select merch_id, order_id, target.pub_id, state.locks_at, line.model, line, quantity,
  line.commission, line.earnings, key
from r_last_line line
join r_target target using (merch_id, order_id, n)
join r_state state using (merch_id, order_id, n)
where is_counted;

create temp table r_back on commit drop as
with latest as (
  select merch_id, order_id, max(n) as n from r_target group by merch_id, order_id
), returned_lines as (
  select merch_id, order_id, m, return_id, place, (place - 1)::int as line,
    case when is_net then 0 else was end as units,
    case when is_net then net else worth end as worth,
    case when is_net then gone else back end as refunded
  from r_placed placed
  join latest using (merch_id, order_id, n)
  join r_basket basket using (merch_id, order_id, n)
  cross join lateral unnest(returned, placed.refunded, placed.taken, worths, nets)
    with ordinality as lines (was, back, gone, worth, net, place)
), counted as (
  select *, coalesce(lag(units) over own, 0) as units_before,
    coalesce(lag(refunded) over own, 0) as refunded_before
  from returned_lines
  window own as (partition by merch_id, order_id, place order by m)
)
select counted.*, logged.at as accepted_at
from counted
join r_return goods using (merch_id, order_id, return_id)
join r_order_event logged on logged.seq = goods.seq
where units > units_before or refunded > refunded_before;

-- Returns before the lock lower the debt; later ones reverse it.
create temp table r_back_line on commit drop as
select back.merch_id, back.order_id, back.line, key, pub_id, return_id, accepted_at,
  accepted_at < locks_at as is_early,
  pg_temp.gone_of(commission, units, quantity, worth, refunded)
    - pg_temp.gone_of(commission, units_before, quantity, worth, refunded_before) as commission,
  pg_temp.gone_of(earnings, units, quantity, worth, refunded)
    - pg_temp.gone_of(earnings, units_before, quantity, worth, refunded_before) as earnings
from r_sale_line sold join r_back back using (merch_id, order_id, line)
where sold.model = 2;

insert into r_debt
select merch_id, key, key, pub_id, locks_at, sold.commission - coalesce(early.commission, 0),
  sold.earnings - coalesce(early.earnings, 0)
from r_sale_line sold
left join (
  select merch_id, order_id, line, sum(commission) as commission, sum(earnings) as earnings
  from r_back_line where is_early group by merch_id, order_id, line
) as early using (merch_id, order_id, line);

insert into r_debt
select merch_id, key || ' ' || return_id, key, pub_id, accepted_at, -commission, -earnings
from r_back_line where not is_early;

-- A reversed payment is owed again and releases nothing.
insert into r_debt
select merch_id, key, key, 0, at, amount_micros, 0
from r_payment_back cross join lateral (select 'payment:' || payment_id as key) as named;

create temp table r_owed on commit drop as
select *, coalesce(sum(cost) over before, 0) as place
from r_debt where cost > 0 or (cost = 0 and earnings > 0)
window before as (
  partition by merch_id order by due_at, cost = 0, key collate "C"
  rows between unbounded preceding and 1 preceding
);
create index on r_owed (merch_id, key);

-- A reversal closes the open rest of its own debt. One after the other, because each closes a gap
-- in the queue.
create temp table r_closed (
  merch_id int, key text, own text, at timestamptz, amount numeric, place numeric,
  closed numeric, closed_from numeric
) on commit drop;
create index on r_closed (merch_id, own);
do $$
declare
  back record;
begin
  for back in
    select debt.merch_id, debt.key, debt.own, debt.due_at, -debt.cost as amount, owed.place,
      owed.cost,
      (select coalesce(sum(amount_micros), 0) from r_payment payment
        where payment.merch_id = debt.merch_id and payment.at < debt.due_at) as paid
    from r_debt debt
    left join r_owed owed on owed.merch_id = debt.merch_id and owed.key = debt.own
      and owed.due_at <= debt.due_at
    where debt.cost < 0
    order by debt.merch_id, debt.due_at, debt.key collate "C"
  loop
    insert into r_closed
    select back.merch_id, back.key, back.own, back.due_at, back.amount, back.place,
      least(back.amount, coalesce(back.cost - covered, 0)), covered
    from (
      select coalesce(sum(amount - closed), 0) + back.paid as money,
        coalesce(sum(closed) filter (where place < back.place), 0) as gaps,
        coalesce(sum(closed) filter (where own = back.own), 0) as closed
      from r_closed where merch_id = back.merch_id
    ) as before
    cross join lateral (
      select closed + least(greatest(money - (back.place - gaps), 0), back.cost - closed) as covered
    ) as own;
  end loop;
end $$;

-- Debts without their closed parts, split where the closed part is in the middle.
create temp table r_part on commit drop as
with edge as (
  select merch_id, key, 0::numeric as part_from from r_owed
  union all
  select merch_id, own, closed_from + closed from r_closed where closed > 0
), part as (
  select owed.*, part_from, coalesce((
      select min(closed_from) from r_closed closed
      where closed.merch_id = owed.merch_id and closed.own = owed.key and closed > 0
        and closed_from >= part_from
    ), cost) as part_to
  from r_owed owed join edge using (merch_id, key)
)
select merch_id, pub_id, due_at, cost, earnings, part_from, part_to, place,
  coalesce(sum(part_to - part_from) over before, 0) as place_from,
  coalesce(sum(part_to - part_from) over before, 0) + part_to - part_from as place_to
from part
where part_to > part_from or cost = 0
window before as (
  partition by merch_id order by due_at, cost = 0, key collate "C", part_from
  rows between unbounded preceding and 1 preceding
);
create index on r_part (merch_id, place_from);

create temp table r_money on commit drop as
select *, coalesce(sum(amount) over before, 0) as place_from,
  coalesce(sum(amount) over before, 0) + amount as place_to
from (
  select merch_id, at, id::text as payment, '' as key, amount_micros::numeric as amount
  from r_payment
  union all
  select merch_id, at, '', key, amount - closed from r_closed where amount > closed
) as money
window before as (
  partition by merch_id order by at, payment collate "C", key collate "C"
  rows between unbounded preceding and 1 preceding
);

create temp table r_release on commit drop as
select part.pub_id, greatest(due_at, at) as at,
  div(earnings * (part_from + least(part.place_to, money.place_to) - part.place_from), cost)
    - div(earnings * (part_from + greatest(part.place_from, money.place_from) - part.place_from),
      cost) as earnings
from r_part part
join r_money money on money.merch_id = part.merch_id
  and money.place_from < part.place_to and part.place_from < money.place_to
where cost > 0
union all
select owed.pub_id, at, div(earnings * (closed_from + closed), cost)
    - div(earnings * closed_from, cost)
from r_closed closed
join r_owed owed on owed.merch_id = closed.merch_id and owed.key = closed.own
where closed > 0
union all
-- A debt that costs nothing is released with the money that covered or closed everything before it.
select part.pub_id, greatest(due_at, money.at, (
    select max(at) from r_closed closed
    where closed.merch_id = part.merch_id and closed.place < part.place and closed > 0
  )), earnings
from r_part part
left join r_money money on money.merch_id = part.merch_id
  and money.place_from < part.place_from and part.place_from <= money.place_to
where cost = 0 and (part.place_from = 0 or money.merch_id is not null)
union all
select pub_id, due_at, earnings from r_debt where cost < 0 or (cost = 0 and earnings < 0);

-- Each statement continues from the previous one as issued, because that was paid. The last one
-- also corrects earlier months by the current log. Changes after its issue wait for the next
-- statement. The same holds for the lines of an order per purchase, which may be reported
-- differently after its lock: its payment is then divided again, and a released part moves by a
-- fraction of a cent.
create temp table r_statement on commit drop as
with relined as (
  select distinct sold.pub_id, locks_at, logged.seq
  from r_sale_line sold join r_order_event logged using (merch_id, order_id)
  where sold.model = 3 and logged.type in (12, 17) and logged.at > locks_at
), moved as (
  select pub_id, date_trunc('month', at at time zone 'UTC')::date as month,
    coalesce(sum(earnings) filter (where earnings > 0), 0) as released,
    -coalesce(sum(earnings) filter (where earnings < 0), 0) as reversed
  from r_release group by 1, 2
), run as materialized (
  select month, position, exists (
      select from event
      where lane = 0 and day < month + interval '1 month' and seq > run.position
        and seq <= (select position from lane where lane = 0)
    ) as has_later_events
  from (select distinct month, position from statement) as run
), issued as (
  select *, coalesce(lag(closing_micros) over own, 0) as opening,
    lead(month) over own is null and not has_later_events and not exists (
      select from relined
      where relined.pub_id = statement.pub_id and relined.seq > run.position
        and locks_at < month + interval '1 month'
    ) as is_current,
    sum(released_micros - reversed_micros) over own
      - (released_micros - reversed_micros) as issued_before
  from statement join run using (month)
  where statement.position is not distinct from run.position
  window own as (partition by pub_id order by month)
), moved_before as (
  select pub_id, sum(released - reversed) as net
  from issued join moved using (pub_id)
  where is_current and moved.month < issued.month
  group by pub_id
), due as (
  select issued.pub_id, issued.month, opening,
    case when is_current then coalesce(released, 0) + greatest(late, 0) else released_micros end
      as released,
    case when is_current then coalesce(reversed, 0) + greatest(-late, 0)
      else reversed_micros end
      as reversed
  from issued
  left join moved using (pub_id, month)
  left join moved_before using (pub_id)
  cross join lateral (select coalesce(net, 0) - issued_before as late) as earlier
)
select pub_id, month, opening, released, reversed, payout, balance - payout as closing
from due
cross join lateral (select opening + released - reversed as balance) as sums
cross join lateral (
  select case when balance >= 50000000 then balance - mod(balance, 10000) else 0 end as payout
) as paid;
