-- Roles of users in organizations, API keys, sessions, and the audit log.

-- A user's role in a publisher, in a merchant, or (both null) in the network itself.
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

-- Accepted and withdrawn invitations stay for a while, so that a late click gets the reason.
create table invitation (
  invitation_id integer generated always as identity primary key,
  pub_id integer references publisher,
  merch_id integer references merchant, -- both null: the network
  email text not null,
  role text not null,
  token_hash bytea not null unique,
  invited_by integer references app_user, -- null: the operator's shell
  datetime_created timestamptz not null,
  datetime_updated timestamptz not null,
  datetime_expires timestamptz not null,
  datetime_accepted timestamptz, -- null: not accepted
  datetime_withdrawn timestamptz, -- null: not withdrawn
  check (pub_id is null or merch_id is null),
  check (datetime_accepted is null or datetime_withdrawn is null),
  check (case when pub_id is null and merch_id is null then role in ('admin', 'staff')
    else role in ('owner', 'manager', 'viewer') end)
);
create index invitation_organization on invitation (pub_id, merch_id, invitation_id);
create index invitation_expires on invitation (datetime_expires);

create table api_key (
  token_id integer generated always as identity primary key,
  uid integer not null references app_user,
  description text not null,
  key_hash bytea not null unique, -- SHA-256 of the key; the key itself is never stored
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now(),
  datetime_active timestamptz not null default now(), -- valid from
  datetime_expires timestamptz, -- null: never
  datetime_last_used timestamptz, -- null: never
  is_enabled_by_user boolean not null default true,
  scopes text[], -- null: all rights of the user
  -- The only organization that the key reaches; neither column nor flag set: all of the user's.
  pub_id integer references publisher,
  merch_id integer references merchant,
  is_of_network boolean not null default false,
  check (num_nonnulls(pub_id, merch_id) + is_of_network::int <= 1)
);
create index api_key_uid on api_key (uid);
create index api_key_publisher on api_key (pub_id) where pub_id is not null;
create index api_key_merchant on api_key (merch_id) where merch_id is not null;
create trigger api_key_changed after insert or delete or update of is_enabled_by_user on api_key
  for each statement execute function notify_config();

-- Networks from which a key was used before, as hashes that only the key itself can compute.
create table api_key_place (
  token_id integer not null references api_key,
  place_hash bytea not null,
  primary key (token_id, place_hash)
);

create table dashboard_session (
  token_hash bytea primary key,
  uid integer not null references app_user,
  expires_at timestamptz not null,
  session_id integer generated always as identity unique, -- names the session to its user
  datetime_created timestamptz not null default now(),
  datetime_last_used timestamptz not null default now(),
  user_agent text not null default '',
  address text not null default ''
);
create index dashboard_session_uid on dashboard_session (uid);

-- Responses retained for 24 hours, so that a retried creation gets the first response again.
create table idempotent_response (
  caller text not null, -- `key:7` or `user:3`
  idempotency_key text not null,
  body_hash bytea not null,
  status smallint, -- null while the first request is running
  body text,
  created_at timestamptz not null default now(),
  primary key (caller, idempotency_key)
);

-- Changes and the users that made them. Written in the transaction of the change.
create table audit_entry (
  audit_id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  uid integer references app_user, -- null: the operator's shell
  -- link: a person without a session who holds a link from an e-mail, such as an invitation's.
  through text not null check (through in ('session', 'key', 'cli', 'link')),
  token_id integer references api_key, -- null: not through a key
  pub_id integer references publisher,
  merch_id integer references merchant, -- both null: the network
  action text not null, -- such as campaign.update
  target text not null, -- such as campaign:7
  before jsonb, -- null: created
  after jsonb, -- null: deleted
  request_id text,
  check (pub_id is null or merch_id is null)
);
create index audit_entry_publisher on audit_entry (pub_id, audit_id) where pub_id is not null;
create index audit_entry_merchant on audit_entry (merch_id, audit_id) where merch_id is not null;
create index audit_entry_at on audit_entry (at);

-- The database itself protects the log, whatever the program does: an entry never changes, and is
-- deleted only after 400 days.
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
