-- Columns that were written and that nothing reads. Locks and numbered requests fence budgets, not
-- a version; what was told of a customer stands in the reports themselves.
alter table budget_account drop column version;
alter table merchant_order drop column is_new_customer;

drop view current_offer;
alter table offer drop column imported_at;
create view current_offer as
select offer.*
from offer
join merchant using (merch_id)
where offer.from_generation <= merchant.generation
  and (offer.to_generation is null or offer.to_generation > merchant.generation);
