-- Floors of a publisher by category and country: [{category_id, country,
-- floor_micros}], country null for everywhere.
alter table publisher add column category_floors jsonb not null default '[]';
