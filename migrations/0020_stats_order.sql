-- The default order of the statistics, so that the best rows of a long range are read rather than
-- sorted out of all of them. Only clicks move a row in it: placements and sales stay in place.
create index stats_day_clicks on stats_day (pub_id, clicks desc, day desc, article_id, merch_id);
