-- How far the money lane was folded when a statement was issued: what was told later of its months,
-- out of a spool, is on the next one. Unknown of statements of before.
alter table statement add column position bigint;
