-- Clicks whose orders may still come, summed at night: docs/spec/budgets.md#open-clicks.
create table open_click_sum (
  merch_id integer not null,
  campaign_id integer not null,
  pub_id integer not null,
  model smallint not null,
  price_micros bigint not null,
  -- For each mean delay: the sum of exp(-age / delay) at the time up to which clicks are summed.
  waiting double precision[] not null
);
-- Clicks before that time that the sums lack. A click may be listed twice and counts once.
create table open_click_unsummed (
  merch_id integer not null,
  click_id bytea not null
);
create index open_click_unsummed_merchant on open_click_unsummed (merch_id);
-- Valid clicks that pay per order. A merchant's clicks that were paid at once may be many more.
create index click_per_order on click (merch_id, at) where model in (2, 3) and reason = 0;
