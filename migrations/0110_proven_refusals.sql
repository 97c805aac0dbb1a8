-- What anybody may have sent takes no room from what the merchant's own server did, neither where
-- it is kept nor where it is shown.
alter table refused_intake add column is_proven boolean not null default false;
create index refused_intake_shown on refused_intake (merch_id, is_proven, at);
drop index refused_intake_merchant;
