-- Which installation's database this is, also once it was restored or a standby has taken over:
-- beside a spool stands whose events it holds.
create table installation (id uuid not null default gen_random_uuid());
create unique index installation_only on installation ((true));
insert into installation default values;
