-- What only product feeds for publishers tell of an offer (report columns, product feeds).
-- null: the merchant's feed does not say, or was not imported since.
alter table offer add column description text, add column color text, add column size text,
  add column item_group_id text;

create or replace view current_offer as
select offer.*
from offer
join merchant using (merch_id)
where offer.from_generation <= merchant.generation
  and (offer.to_generation is null or offer.to_generation > merchant.generation);
