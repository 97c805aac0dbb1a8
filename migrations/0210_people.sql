-- People, their roles in organizations, and the log of what they changed.

-- A user's role in a publisher, in a merchant, or (neither) in the network itself.
create table membership (
  membership_id integer generated always as identity primary key,
  uid integer not null references app_user,
  pub_id integer references publisher,
  merch_id integer references merchant,
  role text not null,
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now(),
  unique nulls not distinct (uid, pub_id, merch_id),
  check (pub_id is null or merch_id is null),
  check (case when pub_id is null and merch_id is null then role in ('admin', 'staff')
    else role in ('owner', 'manager', 'viewer') end)
);
create index membership_publisher on membership (pub_id) where pub_id is not null;
create index membership_merchant on membership (merch_id) where merch_id is not null;

-- Everybody owns what they had.
insert into membership (uid, pub_id, role)
select uid, pub_id, 'owner' from publisher order by pub_id;
insert into membership (uid, merch_id, role)
select uid, merch_id, 'owner' from merchant where uid is not null order by merch_id;
insert into membership (uid, role)
select uid, 'admin' from app_user where is_admin order by uid;

alter table app_user
  drop column is_admin,
  add column name text not null default '',
  add column is_suspended boolean not null default false,
  add column datetime_updated timestamptz not null default now();

alter table api_key
  add column scopes text[],
  add column pub_id integer references publisher,
  add column merch_id integer references merchant,
  add column is_of_network boolean not null default false,
  add check (num_nonnulls(pub_id, merch_id) + is_of_network::int <= 1);

alter table dashboard_session
  add column session_id integer generated always as identity unique,
  add column datetime_created timestamptz not null default now(),
  add column datetime_last_used timestamptz not null default now(),
  add column user_agent text not null default '',
  add column address text not null default '';

-- Who changed what. Written in the transaction of the change.
create table audit_entry (
  audit_id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  uid integer references app_user, -- null: the operator's shell
  through text not null check (through in ('session', 'key', 'cli')),
  token_id integer references api_key,
  pub_id integer references publisher,
  merch_id integer references merchant, -- neither: the network
  action text not null, -- such as campaign.update
  target text not null, -- such as campaign:7
  before jsonb,
  after jsonb,
  request_id text,
  check (pub_id is null or merch_id is null)
);
create index audit_entry_publisher on audit_entry (pub_id, audit_id) where pub_id is not null;
create index audit_entry_merchant on audit_entry (merch_id, audit_id) where merch_id is not null;
create index audit_entry_at on audit_entry (at);

-- Whatever the program does: an entry is never changed, and deleted only after its 400 days.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.at < now() - interval '400 days' then
    return old;
  end if;
  raise exception 'the audit log is append-only' using errcode = 'restrict_violation';
end $$;
create trigger audit_entry_kept before update or delete on audit_entry
  for each row execute function refuse_audit_change();
create trigger audit_entry_whole before truncate on audit_entry
  for each statement execute function refuse_audit_change();

-- Idempotency keys belong to a caller, which may be a person: `key:7` or `user:3`.
alter table idempotent_response drop constraint idempotent_response_token_id_fkey;
alter table idempotent_response rename column token_id to caller;
alter table idempotent_response alter column caller type text using 'key:' || caller;
