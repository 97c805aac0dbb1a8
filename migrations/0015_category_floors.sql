-- Floors of a publisher by category and country (economics 1.5): [{category_id, country,
-- floor_micros}], country null for everywhere.
alter table publisher add column category_floors jsonb not null default '[]';
