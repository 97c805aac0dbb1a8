-- The days asked about, both inclusive, as constants that the planner knows: it then reads only their
-- partitions, sees how much there is to read, and may share the reading among workers.
do $range$ begin
  execute format(
    'create function pg_temp.day_from() returns date language sql immutable parallel safe as %L',
    format('select date %L', current_setting('reconcile.day_from')));
  execute format(
    'create function pg_temp.day_to() returns date language sql immutable parallel safe as %L',
    format('select date %L', current_setting('reconcile.day_to')));
end $range$;
