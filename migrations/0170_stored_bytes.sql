-- What anonymous clients made us store, by UTC day, kind and organization (docs/spec/limits.md).
create table stored_bytes (
  day date not null,
  kind text not null,
  organization_id integer not null, -- 0: names none that exists
  bytes bigint not null,
  left_out bigint not null, -- rows that a quota kept out
  primary key (day, kind, organization_id)
);
