-- A database that was restored from a backup may know less of a lease than its node was granted: a
-- click that is more than what is set aside ends it, at this place in the money lane.
alter table lease add column lost_seq bigint;
