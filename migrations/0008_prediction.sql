-- Estimates that are learned from clicks and orders. Each row can be computed again from the log.

-- Clicks and orders of each publisher at each merchant, decayed to one instant. All counts are
-- weighted sums, as src/prediction/evidence.ts defines them.
create table pair_evidence (
  pub_id integer not null,
  merch_id integer not null,
  half_life_days smallint not null, -- the nightly fit chooses one of several
  clicks double precision not null,
  squared_clicks double precision not null, -- sum of the squared weights
  unripe double precision[] not null, -- clicks too young for their orders, for each mean delay
  invalid double precision not null, -- paid clicks that were found invalid later
  orders double precision not null,
  value double precision not null, -- of the orders, in micro-dollars
  log_value double precision not null, -- sum of the natural logarithms of these values
  log_value_square double precision not null, -- sum of their squares
  as_of timestamptz not null,
  primary key (pub_id, merch_id, half_life_days)
);

-- The nightly fit. The newest row is used; the one before it smoothed the newest.
create table prediction_model (
  day date primary key,
  model jsonb not null, -- PredictionModel of src/prediction/prediction-model.ts
  fitted_at timestamptz not null
);
