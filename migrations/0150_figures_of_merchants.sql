-- A merchant's own page sums its figures by day and publisher: the key begins with the publisher.
create index stats_day_merchant on stats_day (merch_id, day);
