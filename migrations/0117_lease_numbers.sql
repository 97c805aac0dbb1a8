-- Clicks in spools name their leases. A database restored from a backup, or a standby that took
-- over, would give the numbers of the leases that it has lost to others, whose escrow then paid for
-- those clicks. So they begin with the time; a thousand are opened in a millisecond by nobody.
alter table lease alter column lease_id set default
  (extract(epoch from clock_timestamp()) * 1000)::bigint * 1000 + nextval('lease_id_seq') % 1000;
