-- What every campaign has spent over its life.
select 'campaign ' || campaign_id as key, 'settled_micros' as column_name,
  coalesce(spent, 0)::text as expected, coalesce(settled_micros, 0)::text as found,
  'paid clicks and sales of campaign ' || campaign_id as cause
from (
  select campaign_id, sum(micros) as spent from (
    select campaign_id, paid_micros as micros from r_click
    union all
    select campaign_id, -paid_micros from r_click where reversal_id is not null
    union all
    select campaign_id, commission_micros from r_change
  ) as spending
  where campaign_id is not null
  group by campaign_id
) as told
full join (
  select campaign_id, settled_micros from budget_account where day is null
) as found using (campaign_id)
where coalesce(spent, 0) <> coalesce(settled_micros, 0)
