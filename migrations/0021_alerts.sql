-- Alerts to publishers about links and tags that need attention.

create table alert_setting (
  pub_id integer primary key references publisher,
  kinds text[] not null,
  webhook_url text, -- null: by mail only
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now()
);

create table alert_email (
  pub_id integer not null references alert_setting,
  email text not null,
  token text not null unique, -- unsubscribes without a sign-in
  primary key (pub_id, email)
);

-- Events that the next run of the job sends.
create table alert_event (
  alert_event_id bigint generated always as identity primary key,
  pub_id integer not null references publisher,
  kind text not null,
  key text not null,
  line text not null, -- of the message
  at timestamptz not null
);

-- Sent alerts: each event at most once a day.
create table sent_alert (
  pub_id integer not null,
  kind text not null,
  key text not null,
  at timestamptz not null,
  primary key (pub_id, kind, key)
);

-- Messages for webhooks, until they are delivered or given up.
create table alert_post (
  alert_post_id bigint generated always as identity primary key,
  pub_id integer not null,
  body jsonb not null,
  attempts integer not null default 0,
  due_at timestamptz not null
);
