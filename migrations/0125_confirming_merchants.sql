-- Anybody can make a browser tell of an order. A merchant that tells of its orders itself may have
-- those that browsers alone tell wait until it does.
alter table merchant add column is_confirming boolean not null default false;
