-- What is looked through every five minutes for clicks that have come since: few among all orders.
create index merchant_order_unknown_click on merchant_order (merch_id, order_id)
  where attribution is null and rejected_at is null
    and told @> '{"evidence": [{"verdict": "unknown_click"}]}';
