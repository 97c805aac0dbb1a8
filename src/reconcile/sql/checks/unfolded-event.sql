-- Events that the fold set aside; their missing figures are among the other differences.
select 'lane ' || lane || ' event ' || event_id as key, 'event' as column_name,
  'folded' as expected, 'set aside' as found, error as cause
from unfolded_event
where day between pg_temp.day_from() and pg_temp.day_to()
