-- Commands have an environment of their own: whether readers' countries are known is what the
-- servers' says.
alter table node add column knows_countries boolean not null default false;
