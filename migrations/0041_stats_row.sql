-- What is a row of section 4.4 is kept rather than read off its figures: those may come back to zero.
-- Clicks that count as none, robots' for one, make none by themselves.
alter table stats_day add column is_row boolean not null default true;
update stats_day figure set is_row = false
where (clicks, sales, revenue_micros, earnings_micros) = (0, 0, 0, 0)
  and unfunded_clicks = 0 and placements = 0
  and not exists (
    select from stats_change change
    where change.pub_id = figure.pub_id and change.day = figure.day
      and change.article_id = figure.article_id and change.merch_id = figure.merch_id
  );
alter table stats_day drop column unfunded_clicks;
