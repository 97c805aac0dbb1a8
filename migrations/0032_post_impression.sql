-- Orders after a link that was seen rather than clicked: a merchant's own choice, with a commission
-- of its own. Null: off.
alter table merchant drop column is_post_impression;
alter table merchant add column post_impression_rate_ppm integer
  check (post_impression_rate_ppm between 1 and 1000000);
create index merchant_post_impression on merchant (merch_id)
where post_impression_rate_ppm is not null;

-- Which links of such merchants a page session has shown, and when one was last in view. Intake's
-- memory of a day or two: what an order is judged by is written into the order's own event.
create table seen_link (
  session_key bytea not null,
  auction_id bigint not null,
  merch_id integer not null,
  placed_at timestamptz not null,
  event_id bigint, -- of the last viewable impression; null: never in view
  seen_at timestamptz,
  primary key (session_key, auction_id, merch_id)
);
create index seen_link_placed on seen_link (placed_at);
