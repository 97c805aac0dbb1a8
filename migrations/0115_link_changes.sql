-- Links that LinkMate and wrappers make are upserted, which counts as an update of all that it
-- names, also where nothing is there to update: each new link made every edge read again all that
-- it holds. Edges are told of what has really changed.
drop trigger smart_link_changed on smart_link;
create trigger smart_link_changed after update on smart_link
for each row when ((old.state, old.is_keyless) is distinct from (new.state, new.is_keyless))
execute function notify_config();
create trigger smart_link_deleted after delete on smart_link
for each statement execute function notify_config();
