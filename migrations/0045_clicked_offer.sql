-- What a click's product was called and cost is a fact of the click; imports delete an offer's
-- version as soon as they have replaced it.

-- The versions of offers that were clicked, each once; kept as long as the clicks are.
create table clicked_offer (
  offer_id bigint not null,
  from_generation integer not null,
  product_id bigint not null,
  category_id integer,
  brand text,
  title text not null,
  price_micros bigint not null,
  primary key (offer_id, from_generation)
);

-- null: no offer, one that was gone when the click was folded, or a click from before this
-- migration; then the offer's first version that is kept stands for it.
alter table click add column offer_generation integer;

insert into clicked_offer
select offer_id, from_generation, product_id, category_id, brand, title, price_micros
from current_offer
where offer_id in (select offer_id from click);
