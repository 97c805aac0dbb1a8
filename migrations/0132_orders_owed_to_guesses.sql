-- An order that is owed to a guess is told again as well, once the click that was named is known.
drop index merchant_order_unknown_click;
create index merchant_order_unknown_click on merchant_order (merch_id, order_id)
  where (attribution is null or attribution <> 'exact') and rejected_at is null
    and told @> '{"evidence": [{"verdict": "unknown_click"}]}';
