-- Outgoing mail, new passwords by mail, and second factors.

-- Written in the transaction of its cause, and deleted once it is sent.
create table outgoing_mail (
  mail_id bigint generated always as identity primary key,
  kind text not null check (kind in ('text', 'password_reset')),
  recipient text not null,
  subject text, -- null for a password_reset, whose token is created when the mail is sent
  body text,
  attempts smallint not null default 0,
  due_at timestamptz not null,
  datetime_created timestamptz not null,
  check ((kind = 'text') = (subject is not null and body is not null))
);
create index outgoing_mail_due on outgoing_mail (due_at);
-- One waiting request per address, however often a person asks.
create unique index outgoing_mail_reset on outgoing_mail (lower(recipient))
  where kind = 'password_reset';

-- A worker sends new mail at once, not at its next minute. Transactions with mail do not wait for
-- each other here: one that finds the row of the job locked leaves its mail to the next minute.
create function send_mail_now() returns trigger language plpgsql as $$
begin
  update job set next_at = now() where task in (
    select task from job where task = 'send_mail' for update skip locked);
  return null;
end $$;
create trigger outgoing_mail_queued after insert on outgoing_mail
  for each statement execute function send_mail_now();

-- Links that set a new password, valid for an hour and once.
create table password_reset (
  token_hash bytea primary key,
  uid integer not null references app_user,
  expires_at timestamptz not null
);
create index password_reset_uid on password_reset (uid);

-- A sign-in whose password was right and whose second factor is outstanding.
create table sign_in_challenge (
  token_hash bytea primary key,
  uid integer not null references app_user,
  password_hash text not null, -- a sign-in fails if the password changes meanwhile
  passkey_challenge text not null,
  expires_at timestamptz not null
);
create index sign_in_challenge_expiry on sign_in_challenge (expires_at);

-- Codes of an authenticator app. The secret must be readable: both sides compute the code from it.
create table totp (
  uid integer primary key references app_user,
  secret text not null, -- base32
  is_confirmed boolean not null default false,
  last_step bigint not null default 0, -- of the last accepted code: each code works once
  datetime_created timestamptz not null,
  datetime_updated timestamptz not null
);

create table passkey (
  passkey_id integer generated always as identity primary key,
  uid integer not null references app_user,
  credential_id text not null unique,
  public_key bytea not null,
  counter bigint not null, -- signatures so far, as the passkey counts them
  transports text[] not null,
  name text not null,
  datetime_created timestamptz not null,
  datetime_updated timestamptz not null,
  datetime_last_used timestamptz -- null: never
);
create index passkey_uid on passkey (uid);

-- The challenge of a passkey that is being registered.
create table passkey_registration (
  uid integer primary key references app_user,
  challenge text not null,
  expires_at timestamptz not null
);

create table recovery_code (
  uid integer not null references app_user,
  code_hash bytea not null,
  primary key (uid, code_hash)
);
