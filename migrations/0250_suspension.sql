-- The operator's stop for an organization: no auctions and no paid clicks. Readers still reach the
-- link's own page (docs/spec/management.md#suspension).
alter table publisher add column is_suspended boolean not null default false;
alter table merchant add column is_suspended boolean not null default false;
