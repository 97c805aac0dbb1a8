-- [{"name", "field"}]: the columns of the feed, and the field that each is read as (null: ignored),
-- for people who map columns by hand. Null until the import has read them.
alter table feed_run add column columns jsonb;
