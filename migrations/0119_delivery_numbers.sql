-- Receivers know a notice that comes twice by its id. A database restored from a backup would give
-- the ids of those that it has lost to others, which nobody would then take: they begin with the time.
alter table webhook_delivery alter column delivery_id drop identity;
create sequence webhook_delivery_delivery_id_seq;
alter table webhook_delivery alter column delivery_id set default
  (extract(epoch from clock_timestamp()) * 1000)::bigint * 1000
    + nextval('webhook_delivery_delivery_id_seq') % 1000;
