-- Marks of the keys that a node signs (the first) and opens results with; they tell nothing of the
-- keys. Where one node lacks another's, readers are led on and none of their clicks is paid.
alter table node add column key_marks text[] not null default '{}';
