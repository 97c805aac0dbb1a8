-- What every campaign has spent, over its life and per day, and what is set aside.
with sold as (
  select campaign_id, change.day, sum(commission_micros) as micros,
    sum(commission_micros) > 0
      or change.day = (min(accepted_at) at time zone 'UTC')::date as is_of_day
  from r_change change join r_state using (merch_id, order_id, seq)
  where campaign_id is not null
  group by campaign_id, merch_id, order_id, seq, change.day
), spending as (
  -- A reversal returns to a day's budget only during that day.
  select campaign_id, day, merchant_cost_micros as micros, true as is_of_day from r_click
  union all
  select campaign_id, day, -merchant_cost_micros, reversal_day = day
  from r_click where reversal_id is not null
  union all
  select campaign_id, day, micros, is_of_day from sold
), logged as (
  -- A campaign that a restored database has lost has no budget.
  select campaign_id, null::date as day, sum(micros) as spent, 0 as given_back
  from spending join campaign using (campaign_id) group by campaign_id
  union all
  select campaign_id, day, sum(micros), coalesce(-sum(micros) filter (where micros < 0), 0)
  from spending join campaign using (campaign_id)
  where is_of_day and day between pg_temp.day_from() and pg_temp.day_to()
  group by campaign_id, day
), found as (
  select campaign_id, day, settled_micros from budget_account
  where day is null or day between pg_temp.day_from() and pg_temp.day_to()
)
select 'campaign ' || coalesce(logged.campaign_id, found.campaign_id)
    || coalesce(' ' || coalesce(logged.day, found.day), '') as key,
  'settled_micros' as column_name,
  coalesce(spent, 0)::text as expected, coalesce(settled_micros, 0)::text as found,
  'paid clicks and sales of campaign ' || coalesce(logged.campaign_id, found.campaign_id) as cause
from logged
full join found on found.campaign_id = logged.campaign_id
  and coalesce(found.day, 'infinity') = coalesce(logged.day, 'infinity')
where coalesce(spent, 0) <> coalesce(settled_micros, 0)
  -- A day that ended before a reversal was folded has nothing left to give back.
  and coalesce(settled_micros, 0) - coalesce(spent, 0) not between 1 and coalesce(given_back, 0)
union all
-- No event records leases, but escrow that belongs to no lease would never be spent.
select 'campaign ' || campaign_id || coalesce(' ' || account.day, ''), 'escrow_micros',
  coalesce(held, 0)::text, escrow_micros::text, 'open leases of campaign ' || campaign_id
from (
  select *, coalesce(day, 'infinity') as of_day from budget_account
  where day is null or day between pg_temp.day_from() and pg_temp.day_to()
) as account
left join (
  select campaign_id, coalesce(day, 'infinity') as of_day,
    sum(granted_micros - reserved_folded_micros) as held
  from lease where closed_at is null
  group by grouping sets ((campaign_id, day), (campaign_id))
) as leased using (campaign_id, of_day)
where coalesce(held, 0) <> escrow_micros
