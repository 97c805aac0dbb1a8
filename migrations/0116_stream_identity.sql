-- A stream that has lost its newest messages, to a power cut or a copy put back, gives their numbers
-- to others. What was carried last is therefore known by its hash as well; null: carried before.
alter table stream_position add column digest bytea;
