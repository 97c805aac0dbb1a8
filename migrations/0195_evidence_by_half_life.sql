-- Evidence is kept for several half-lives, of which the nightly fit chooses one, and in sums that
-- depend on no fitted delay (docs/spec/prediction.md). What exists is counted again from clicks and
-- orders. The weights follow src/prediction/evidence.ts.
drop table pair_evidence;

create table pair_evidence (
  pub_id integer not null,
  merch_id integer not null,
  half_life_days smallint not null,
  clicks double precision not null,
  squared_clicks double precision not null,
  unripe double precision[] not null,
  invalid double precision not null,
  orders double precision not null,
  value double precision not null,
  log_value double precision not null,
  log_value_square double precision not null,
  as_of timestamptz not null,
  primary key (pub_id, merch_id, half_life_days)
);

insert into pair_evidence
select pub_id, merch_id, half_life_days,
  coalesce(sum(decay) filter (where is_valid), 0),
  coalesce(sum(decay * decay) filter (where is_valid), 0),
  array[
    coalesce(sum(decay * exp(-least(300, age / 1200))) filter (where is_valid), 0),
    coalesce(sum(decay * exp(-least(300, age / 10800))) filter (where is_valid), 0),
    coalesce(sum(decay * exp(-least(300, age / 54000))) filter (where is_valid), 0),
    coalesce(sum(decay * exp(-least(300, age / 259200))) filter (where is_valid), 0),
    coalesce(sum(decay * exp(-least(300, age / 604800))) filter (where is_valid), 0),
    coalesce(sum(decay * exp(-least(300, age / 1555200))) filter (where is_valid), 0)
  ],
  coalesce(sum(decay) filter (where is_invalid), 0),
  coalesce(sum(decay) filter (where is_order), 0),
  coalesce(sum(decay * revenue) filter (where is_order), 0),
  coalesce(sum(decay * ln(revenue)) filter (where is_order), 0),
  coalesce(sum(decay * ln(revenue) ^ 2) filter (where is_order), 0),
  now()
from (
  select pub_id, merch_id, at, reversed_at is null as is_valid,
    reversed_at is not null and paid_micros > 0 as is_invalid, false as is_order, 1::float8 as revenue
  from click where reason = 0 and merch_id <> 0
  union all
  select click.pub_id, click.merch_id, at, false, false, true, greatest(1, revenue_micros)::float8
  from merchant_order join click using (click_id)
  where reversed_at is null and revenue_micros > 0 and rejected_at is null and hold is null
    and coalesce(attribution, '') <> 'impression'
) as happened,
unnest(array[10, 40, 160]::smallint[]) as half_life_days,
lateral (select greatest(0, extract(epoch from now() - at))::float8 as age) as aged,
lateral (select 0.5 ^ least(500, age / 86400 / half_life_days) as decay) as decayed
group by pub_id, merch_id, half_life_days;

-- Until the next fit the curve is the usual one: fit it within minutes, as in a young network.
update prediction_model set model = jsonb_set(model, '{delayOrders}', '0');
