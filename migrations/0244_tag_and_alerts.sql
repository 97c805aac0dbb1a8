-- What publishers' pages report, by host and consent, and messages about what needs attention.

create table tag_day (
  pub_id integer not null,
  day date not null,
  host text not null,
  consent smallint not null, -- as in event
  page_views bigint not null,
  last_at timestamptz not null,
  primary key (pub_id, day, host, consent)
);
insert into tag_day
select pub_id, day, left(split_part(split_part(url, '//', 2), '/', 1), 255), coalesce(consent, 0),
  count(*), max(at)
from event join lane using (lane)
where type = 1 and reason = 0 and seq <= position and day > current_date - 7
  and pub_id is not null and url is not null
group by 1, 2, 3, 4;

-- Where a publisher's messages go, and about what.
create table alert_setting (
  pub_id integer primary key references publisher,
  kinds text[] not null,
  webhook_url text,
  datetime_created timestamptz not null default now(),
  datetime_updated timestamptz not null default now()
);
create table alert_email (
  pub_id integer not null references alert_setting,
  email text not null,
  token text not null unique, -- unsubscribes without a sign-in
  primary key (pub_id, email)
);

-- What happened between two runs, by those who see it happen.
create table alert_event (
  alert_event_id bigint generated always as identity primary key,
  pub_id integer not null references publisher,
  kind text not null,
  key text not null,
  line text not null,
  at timestamptz not null
);
-- Alerts that were sent: each event at most once a day.
create table alert_told (
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
