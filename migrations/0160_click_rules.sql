-- What the rules on paid clicks go by (docs/spec/clicks.md#rules): a keyed hash of the reader's
-- address unit and user agent, null where the rules by address do not apply; whether the browser
-- sent our cookie back, null for a click of before these rules; and the campaign's limits per
-- address unit as of the click.
alter table event
  add column agent_key bytea,
  add column visitor_returned smallint,
  add column address_hour_max integer,
  add column address_day_max integer;

alter table click
  add column address_key bytea,
  add column agent_key bytea,
  add column visitor_returned boolean; -- null: of before these rules
-- The fold looks up the valid clicks of an address unit on a campaign, of a user agent at the
-- address, and of a visitor. Only valid clicks count, and only those that a rule goes by.
create index click_address on click (address_key, coalesce(campaign_id, 0), at)
where address_key is not null and reason = 0;

alter table campaign
  add column clicks_per_address_hour integer not null default 10
    check (clicks_per_address_hour >= 1),
  add column clicks_per_address_day integer not null default 50
    check (clicks_per_address_day >= 1);
