-- Totals of auctions: every dimension counts the same auctions, bids and prices. No event records an
-- auction that nobody clicked, so nothing can say whether a total lacks auctions (docs/spec/reports.md).
with summed as (
  select campaign_id, day, reason, dimension, sum(auctions) as auctions, sum(bids) as bids,
    sum(bid_micros) as bid_micros, sum(price_micros) as price_micros
  from auction_day
  where day between pg_temp.day_from() and pg_temp.day_to()
  group by campaign_id, day, reason, dimension
), compared as (
  select whole.campaign_id, whole.day, whole.reason, wanted_by.dimension, name, wanted, had
  from summed as whole
  cross join generate_series(1, 4) as wanted_by (dimension)
  left join summed as part on part.campaign_id = whole.campaign_id and part.day = whole.day
    and part.reason = whole.reason and part.dimension = wanted_by.dimension
  cross join lateral (values
    ('auctions', whole.auctions, part.auctions), ('bids', whole.bids, part.bids),
    ('bid_micros', whole.bid_micros, part.bid_micros),
    ('price_micros', whole.price_micros, part.price_micros)
  ) as figure (name, wanted, had)
  where whole.dimension = 0
)
select 'campaign ' || campaign_id || ' ' || day || ' dimension ' || dimension || ' reason ' || reason
    as key,
  name as column_name, wanted::text as expected, coalesce(had, 0)::text as found,
  'auctions of ' || day as cause
from compared where wanted <> coalesce(had, 0)
