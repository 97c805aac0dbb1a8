-- The requested days, both inclusive, as constants that the planner knows. It then reads only their
-- partitions, estimates the amount of data, and may use parallel workers.
do $range$ begin
  execute format(
    'create function pg_temp.day_from() returns date language sql immutable parallel safe as %L',
    format('select date %L', current_setting('reconcile.day_from')));
  execute format(
    'create function pg_temp.day_to() returns date language sql immutable parallel safe as %L',
    format('select date %L', current_setting('reconcile.day_to')));
end $range$;
