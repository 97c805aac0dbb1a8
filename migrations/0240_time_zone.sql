-- The days of a publisher's breakdown begin at midnight in its time zone.
alter table publisher add column time_zone text not null default 'UTC';
