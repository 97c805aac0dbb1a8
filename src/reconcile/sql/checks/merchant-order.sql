-- Every order's current owner and amounts. Whole rows are compared first: comparing each column of
-- all rows would cost more than everything else.
select coalesce(expected.merch_id, found.merch_id) || ' ' || coalesce(expected.order_id, found.order_id)
    as key,
  compared.name as column_name, wanted as expected, had as found,
  'order event ' || coalesce(expected.first_id, found.event_id) as cause
from (
  select first_step.id as first_id, first_step.day as first_day,
    state.*, target.pub_id, target.article_id, target.campaign_id, target.model,
    target.revenue, target.commission, target.earnings, target.net_sales, target.net_revenue,
    target.net_commission, target.net_earnings,
    timestamptz 'epoch' + (best->>'ordered_at_ms')::bigint * interval '1 millisecond'
      as ordered_at,
    case when latest_report->>'value_micros' is null then 'no_rate'
      else latest_report->>'hold' end as hold
  from r_state state
  join (
    select merch_id, order_id, max(n) as n from r_state group by merch_id, order_id
  ) as latest using (merch_id, order_id, n)
  join (
    select distinct on (merch_id, order_id) merch_id as first_merch, order_id as first_order, id,
      day
    from r_state where accepted_at is not null order by merch_id, order_id, n
  ) as first_step on first_merch = state.merch_id and first_order = state.order_id
  join r_target target using (merch_id, order_id, n)
) as expected
full join (
  select * from merchant_order where event_id is not null
) as found on found.merch_id = expected.merch_id and found.order_id = expected.order_id
cross join lateral (
  values ('event_id', expected.first_id::text, found.event_id::text),
    ('day', expected.first_day::text, found.day::text),
    ('accepted_at', expected.accepted_at::text, found.accepted_at::text),
    ('ordered_at', expected.ordered_at::text, found.ordered_at::text),
    ('source', best->>'source', found.source),
    ('currency', best->>'currency', found.currency),
    ('value', best->>'value', found.value),
    ('rate_id', best->>'rate_id', found.rate_id),
    ('hold', expected.hold, found.hold),
    ('click_id', encode(expected.click_id, 'hex'), encode(found.click_id, 'hex')),
    ('attribution', (array['impression', 'visitor', 'exact'])[sureness], found.attribution),
    ('pub_id', expected.pub_id::text, found.pub_id::text),
    ('article_id', expected.article_id::text, found.article_id::text),
    ('campaign_id', expected.campaign_id::text, found.campaign_id::text),
    ('model', expected.model::text, found.model::text),
    ('locks_at', expected.locks_at::text, found.locks_at::text),
    ('rejected_at', expected.rejected_at::text, found.rejected_at::text),
    ('reject_reason', expected.reject_reason, found.reject_reason),
    ('revenue_micros', expected.revenue::text, found.revenue_micros::text),
    ('commission_micros', expected.commission::text, found.commission_micros::text),
    ('earnings_micros', expected.earnings::text, found.earnings_micros::text),
    ('net_sales', expected.net_sales::text, found.net_sales::text),
    ('net_revenue_micros', expected.net_revenue::text, found.net_revenue_micros::text),
    ('net_commission_micros', expected.net_commission::text, found.net_commission_micros::text),
    ('net_earnings_micros', expected.net_earnings::text, found.net_earnings_micros::text)
) as compared (name, wanted, had)
where (expected.first_id, expected.first_day, expected.accepted_at, expected.ordered_at,
    best->>'source', best->>'currency', best->>'value', best->>'rate_id', expected.hold,
    expected.click_id, (array['impression', 'visitor', 'exact'])[sureness], expected.pub_id,
    expected.article_id, expected.campaign_id, expected.model, expected.locks_at,
    expected.rejected_at, expected.reject_reason, expected.revenue, expected.commission,
    expected.earnings, expected.net_sales, expected.net_revenue, expected.net_commission,
    expected.net_earnings)
  is distinct from
    (found.event_id, found.day, found.accepted_at, found.ordered_at, found.source,
    found.currency, found.value, found.rate_id, found.hold, found.click_id, found.attribution,
    found.pub_id, found.article_id, found.campaign_id, found.model, found.locks_at,
    found.rejected_at, found.reject_reason, found.revenue_micros, found.commission_micros,
    found.earnings_micros, found.net_sales, found.net_revenue_micros, found.net_commission_micros,
    found.net_earnings_micros)
  and wanted is distinct from had
  and coalesce(expected.first_day, found.day)
    between pg_temp.day_from() and pg_temp.day_to()
