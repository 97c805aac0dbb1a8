-- The second rate of campaigns that pay per order: docs/spec/auction.md#second-rate. Existing
-- campaigns keep paying their full rate.
alter table merchant add column allows_second_rate boolean not null default false;
alter table campaign add column has_second_rate boolean not null default false;
