-- Every click's verdict and price. Whole rows are compared first: comparing each column of all rows
-- would cost more than everything else.
select encode(coalesce(expected.click_id, found.click_id), 'hex') as key,
  compared.name as column_name,
  wanted as expected, had as found,
  'click event ' || coalesce(expected.id, found.event_id) as cause
from (
  select * from r_click
  where day between pg_temp.day_from() and pg_temp.day_to()
) as expected
full join (
  select * from click
  where day between pg_temp.day_from() and pg_temp.day_to()
) as found on found.event_id = expected.id
cross join lateral (
  values ('event_id', expected.id::text, found.event_id::text),
    ('click_id', encode(expected.click_id, 'hex'), encode(found.click_id, 'hex')),
    ('result_number', encode(expected.result_number, 'hex'), encode(found.result_number, 'hex')),
    ('day', expected.day::text, found.day::text),
    ('at', expected.at::text, found.at::text),
    ('pub_id', expected.pub_id::text, found.pub_id::text),
    ('article_id', expected.article_id::text, found.article_id::text),
    ('auction_id', expected.auction_id::text, found.auction_id::text),
    ('merch_id', expected.merch_id::text, found.merch_id::text),
    ('campaign_id', expected.campaign_id::text, found.campaign_id::text),
    ('model', expected.model::text, found.model::text),
    ('terms_amount', expected.terms_amount::text, found.terms_amount::text),
    ('share_ppm', expected.share_ppm::text, found.share_ppm::text),
    ('reason', expected.reason::text, found.reason::text),
    ('is_reserved', expected.is_first::text, found.is_reserved::text),
    ('merchant_cost_micros', expected.merchant_cost_micros::text, found.merchant_cost_micros::text),
    ('publisher_earnings_micros', expected.publisher_earnings_micros::text,
      found.publisher_earnings_micros::text),
    ('reversed_at', expected.reversed_at::text, found.reversed_at::text),
    ('reverse_reason', expected.reverse_reason, found.reverse_reason)
) as compared (name, wanted, had)
where (expected.id, expected.click_id, expected.result_number, expected.day, expected.at,
    expected.pub_id, expected.article_id, expected.auction_id, expected.merch_id,
    expected.campaign_id, expected.model, expected.terms_amount, expected.share_ppm,
    expected.reason, expected.is_first, expected.merchant_cost_micros,
      expected.publisher_earnings_micros,
    expected.reversed_at, expected.reverse_reason)
  is distinct from
    (found.event_id, found.click_id, found.result_number, found.day, found.at, found.pub_id,
    found.article_id, found.auction_id, found.merch_id, found.campaign_id, found.model,
    found.terms_amount, found.share_ppm, found.reason, found.is_reserved,
      found.merchant_cost_micros,
    found.publisher_earnings_micros, found.reversed_at, found.reverse_reason)
  and wanted is distinct from had
