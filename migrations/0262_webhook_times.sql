-- Records of the API say when they changed last.
alter table webhook add column datetime_updated timestamptz not null default now();
update webhook set datetime_updated = datetime_created;
