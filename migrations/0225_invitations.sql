-- Invitations to an organization, and changes made through a link that was sent by mail.

-- Accepted and withdrawn ones stay for a while, so that a late click gets the reason.
create table invitation (
  invitation_id integer generated always as identity primary key,
  pub_id integer references publisher,
  merch_id integer references merchant, -- neither: the network
  email text not null,
  role text not null,
  token_hash bytea not null unique,
  invited_by integer references app_user, -- null: the operator's shell
  datetime_created timestamptz not null,
  datetime_updated timestamptz not null,
  datetime_expires timestamptz not null,
  datetime_accepted timestamptz,
  datetime_withdrawn timestamptz,
  check (pub_id is null or merch_id is null),
  check (datetime_accepted is null or datetime_withdrawn is null),
  check (case when pub_id is null and merch_id is null then role in ('admin', 'staff')
    else role in ('owner', 'manager', 'viewer') end)
);
create index invitation_organization on invitation (pub_id, merch_id, invitation_id);
create index invitation_expires on invitation (datetime_expires);

-- link: somebody without a session who holds a link from an e-mail, such as an invitation's.
alter table audit_entry drop constraint audit_entry_through_check;
alter table audit_entry add constraint audit_entry_through_check
  check (through in ('session', 'key', 'cli', 'link'));

create index api_key_publisher on api_key (pub_id) where pub_id is not null;
create index api_key_merchant on api_key (merch_id) where merch_id is not null;
