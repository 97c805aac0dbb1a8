-- Two facts that reports and feeds tell and that nothing kept.

-- A product on sale is told with both its prices (report columns, product feeds).
-- null: not on sale, or not imported since.
alter table offer add column regular_price_micros bigint;

create or replace view current_offer as
select offer.*
from offer
join merchant using (merch_id)
where offer.from_generation <= merchant.generation
  and (offer.to_generation is null or offer.to_generation > merchant.generation);

-- The publisher named the link's article, with its key or in a wrapper's address; false: it is
-- the page that the link was found on (report columns, is_clean_article_url).
alter table smart_link add column is_article_given boolean not null default false;

update smart_link set is_article_given = true where source = 'api' or not is_keyless;
