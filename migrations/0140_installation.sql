-- Which installation's database this is, also once it was restored or a standby has taken over:
-- spool and stream tell by it whose events they hold. Made of when the database was: one that is
-- set back to a backup of before this, and migrated again, is still the same.
create table installation (id uuid not null);
create unique index installation_only on installation ((true));
insert into installation
select md5(extract(epoch from min(run_on))::text)::uuid from migration;
