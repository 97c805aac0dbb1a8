-- The schema after all migrations. Written by `npm run schema`; change a migration instead.

create sequence event_seq;

create sequence lease_id_seq;

create sequence offer_id_seq;

create sequence webhook_delivery_delivery_id_seq;

CREATE OR REPLACE FUNCTION check_tags_now()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update job set next_at = now() where task in (
    select task from job where task = 'check_tags' for update skip locked);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION close_event_day(d date)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  name text := 'event_' || to_char(d, 'YYYYMMDD');
begin
  if to_regclass(name) is null then
    name := 'event_default';
  end if;
  execute format('lock table %I in share row exclusive mode', name);
  execute format(
    'create or replace trigger note_late_event after insert on %I
     for each row execute function note_late_event()', name);
  execute format(
    'insert into event_day_end (lane, day, seq)
     select lane.lane, %L, coalesce(
       (select seq from %I as logged where logged.lane = lane.lane order by seq desc limit 1), 0)
     from lane
     on conflict (lane, day) do update set seq = excluded.seq', d, name);
end
$function$;

CREATE OR REPLACE FUNCTION close_next_event_day(before date)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  next_day date;
begin
  perform pg_advisory_xact_lock('event'::regclass::int, 0); -- as for making partitions
  select min(day) into next_day from (
    select to_date(right(relname, 8), 'YYYYMMDD') as day
    from pg_inherits join pg_class on oid = inhrelid
    where inhparent = 'event'::regclass and relname ~ '^event_\d{8}$'
      and to_date(right(relname, 8), 'YYYYMMDD') >= (select from_day from event_open)
    union all
    select day from event_day_end where seq = 9223372036854775807
  ) as not_closed
  where day < before;
  if next_day is not null then
    perform close_event_day(next_day);
  end if;
  update event_open set from_day = greatest(from_day, coalesce(next_day + 1, before));
  return next_day is not null;
end
$function$;

CREATE OR REPLACE FUNCTION compact_event_partition(d date)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  name text := 'event_' || to_char(d, 'YYYYMMDD');
begin
  if to_regclass(name) is not null then
    execute format('cluster %I using %I', name, name || '_pkey');
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION count_earlier_views()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_advisory_xact_lock('article'::regclass::int, new.pub_id);
  insert into view_slot as total (pub_id, slot, impressions)
  select pub_id, slot, impressions from page_slot
  where pub_id = new.pub_id and url_key = new.url_key
    and slot >= date_trunc('day', new.datetime_created, 'UTC')
  order by slot
  on conflict (pub_id, slot) do update set impressions = total.impressions + excluded.impressions;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION create_event_partition(d date)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  name text := 'event_' || to_char(d, 'YYYYMMDD');
begin
  perform pg_advisory_xact_lock('event'::regclass::int, 0); -- nodes that start together take turns
  if to_regclass(name) is not null then
    return false;
  end if;
  lock table event_default in access exclusive mode; -- the attaching needs it anyway
  execute format('create table %I (like event including all)', name);
  execute format(
    'with moved as (delete from event_default where day = %L returning *)
     insert into %I select * from moved', d, name);
  execute format(
    'alter table event attach partition %I for values from (%L) to (%L)', name, d, d + 1);
  if d < (select from_day from event_open) then
    perform close_event_day(d);
  end if;
  return true;
end
$function$;

CREATE OR REPLACE FUNCTION first_unread_day(of_lane integer, beyond bigint)
 RETURNS date
 LANGUAGE sql
 STABLE
AS $function$
  select least(from_day, (
    select min(day) from event_day_end where lane = of_lane and seq > beyond))
  from event_open
$function$;

CREATE OR REPLACE FUNCTION note_late_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  highest constant bigint := 9223372036854775807;
begin
  if not exists (
    select from event_day_end where lane = new.lane and day = new.day and seq = highest)
  then
    insert into event_day_end (lane, day, seq) values (new.lane, new.day, highest)
    on conflict (lane, day) do update set seq = highest;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION notify_config()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('souk_config', tg_table_name);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION quarter_hour(at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select date_bin('15 minutes', at, '2000-01-01 00:00:00+00') $function$;

CREATE OR REPLACE FUNCTION refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' and old.at < now() - interval '400 days' then
    return old;
  end if;
  raise exception 'the audit log is append-only' using errcode = 'restrict_violation';
end $function$;

CREATE OR REPLACE FUNCTION refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'table % is append-only: a correction is a new entry', tg_table_name;
end
$function$;

CREATE OR REPLACE FUNCTION send_mail_now()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update job set next_at = now() where task in (
    select task from job where task = 'send_mail' for update skip locked);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION span_begin(day date, width integer)
 RETURNS date
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$ select day - ((day - date '2000-01-03') % width + width) % width $function$;

create table alert_email (
  pub_id integer not null,
  email text not null,
  token text not null,
  constraint alert_email_pkey PRIMARY KEY (pub_id, email),
  constraint alert_email_token_key UNIQUE (token),
  constraint alert_email_pub_id_fkey FOREIGN KEY (pub_id) REFERENCES alert_setting(pub_id)
);

create table alert_event (
  alert_event_id bigint generated always as identity,
  pub_id integer not null,
  kind text not null,
  key text not null,
  line text not null,
  at timestamp with time zone not null,
  constraint alert_event_pkey PRIMARY KEY (alert_event_id),
  constraint alert_event_pub_id_fkey FOREIGN KEY (pub_id) REFERENCES publisher(pub_id)
);

create table alert_post (
  alert_post_id bigint generated always as identity,
  pub_id integer not null,
  body jsonb not null,
  attempts integer not null default 0,
  due_at timestamp with time zone not null,
  constraint alert_post_pkey PRIMARY KEY (alert_post_id)
);

create table alert_setting (
  pub_id integer not null,
  kinds text[] not null,
  webhook_url text,
  datetime_created timestamp with time zone not null default now(),
  datetime_updated timestamp with time zone not null default now(),
  constraint alert_setting_pkey PRIMARY KEY (pub_id),
  constraint alert_setting_pub_id_fkey FOREIGN KEY (pub_id) REFERENCES publisher(pub_id)
);

create table api_key (
  token_id integer generated always as identity,
  uid integer not null,
  description text not null,
  key_hash bytea not null,
  datetime_created timestamp with time zone not null default now(),
  datetime_updated timestamp with time zone not null default now(),
  datetime_active timestamp with time zone not null default now(),
  datetime_expires timestamp with time zone,
  datetime_last_used timestamp with time zone,
  is_enabled_by_user boolean not null default true,
  scopes text[],
  pub_id integer,
  merch_id integer,
  is_of_network boolean not null default false,
  constraint api_key_pkey PRIMARY KEY (token_id),
  constraint api_key_key_hash_key UNIQUE (key_hash),
  constraint api_key_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id),
  constraint api_key_pub_id_fkey FOREIGN KEY (pub_id) REFERENCES publisher(pub_id),
  constraint api_key_uid_fkey FOREIGN KEY (uid) REFERENCES app_user(uid),
  constraint api_key_check CHECK (((num_nonnulls(pub_id, merch_id) + (is_of_network)::integer) <= 1))
);
CREATE INDEX api_key_merchant ON api_key USING btree (merch_id) WHERE (merch_id IS NOT NULL);
CREATE INDEX api_key_publisher ON api_key USING btree (pub_id) WHERE (pub_id IS NOT NULL);
CREATE INDEX api_key_uid ON api_key USING btree (uid);
CREATE TRIGGER api_key_changed AFTER INSERT OR DELETE OR UPDATE OF is_enabled_by_user ON api_key FOR EACH STATEMENT EXECUTE FUNCTION notify_config();

create table api_key_place (
  token_id integer not null,
  place_hash bytea not null,
  constraint api_key_place_pkey PRIMARY KEY (token_id, place_hash),
  constraint api_key_place_token_id_fkey FOREIGN KEY (token_id) REFERENCES api_key(token_id)
);

create table app_user (
  uid integer generated always as identity,
  email text not null,
  password_hash text not null,
  datetime_created timestamp with time zone not null default now(),
  name text not null default ''::text,
  is_suspended boolean not null default false,
  datetime_updated timestamp with time zone not null default now(),
  constraint app_user_pkey PRIMARY KEY (uid)
);
CREATE UNIQUE INDEX app_user_email ON app_user USING btree (lower(email));

create table article (
  article_id integer generated always as identity,
  pub_id integer not null,
  uid integer not null,
  url text not null,
  url_key bytea not null,
  name text not null,
  publication_date timestamp with time zone,
  datetime_created timestamp with time zone not null default now(),
  datetime_updated timestamp with time zone not null default now(),
  constraint article_pkey PRIMARY KEY (article_id),
  constraint article_pub_id_url_key_key UNIQUE (pub_id, url_key),
  constraint article_pub_id_fkey FOREIGN KEY (pub_id) REFERENCES publisher(pub_id),
  constraint article_uid_fkey FOREIGN KEY (uid) REFERENCES app_user(uid)
);
CREATE TRIGGER article_views AFTER INSERT ON article FOR EACH ROW EXECUTE FUNCTION count_earlier_views();

create table auction_batch (
  node_id smallint not null,
  incarnation bigint not null,
  batch bigint not null,
  constraint auction_batch_pkey PRIMARY KEY (node_id, incarnation)
);

create table auction_day (
  day date not null,
  campaign_id integer not null,
  dimension smallint not null,
  value bigint not null,
  reason smallint not null,
  auctions bigint not null,
  bids bigint not null,
  bid_micros numeric not null,
  price_micros numeric not null,
  constraint auction_day_pkey PRIMARY KEY (campaign_id, day, dimension, value, reason),
  constraint auction_day_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaign(campaign_id),
  constraint auction_day_dimension_check CHECK (((dimension >= 0) AND (dimension <= 4)))
);

create table audit_entry (
  audit_id bigint generated always as identity,
  at timestamp with time zone not null default now(),
  uid integer,
  through text not null,
  token_id integer,
  pub_id integer,
  merch_id integer,
  action text not null,
  target text not null,
  before jsonb,
  after jsonb,
  request_id text,
  constraint audit_entry_pkey PRIMARY KEY (audit_id),
  constraint audit_entry_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id),
  constraint audit_entry_pub_id_fkey FOREIGN KEY (pub_id) REFERENCES publisher(pub_id),
  constraint audit_entry_token_id_fkey FOREIGN KEY (token_id) REFERENCES api_key(token_id),
  constraint audit_entry_uid_fkey FOREIGN KEY (uid) REFERENCES app_user(uid),
  constraint audit_entry_check CHECK (((pub_id IS NULL) OR (merch_id IS NULL))),
  constraint audit_entry_through_check CHECK ((through = ANY (ARRAY['session'::text, 'key'::text, 'cli'::text, 'link'::text])))
);
CREATE INDEX audit_entry_at ON audit_entry USING btree (at);
CREATE INDEX audit_entry_merchant ON audit_entry USING btree (merch_id, audit_id) WHERE (merch_id IS NOT NULL);
CREATE INDEX audit_entry_publisher ON audit_entry USING btree (pub_id, audit_id) WHERE (pub_id IS NOT NULL);
CREATE TRIGGER audit_entry_kept BEFORE DELETE OR UPDATE ON audit_entry FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_entry_whole BEFORE TRUNCATE ON audit_entry FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

create table budget_account (
  account_id bigint generated always as identity,
  campaign_id integer not null,
  day date,
  cap_micros bigint,
  pending_cap_micros bigint,
  settled_micros bigint not null default 0,
  escrow_micros bigint not null default 0,
  constraint budget_account_pkey PRIMARY KEY (account_id),
  constraint budget_account_campaign_id_day_key UNIQUE NULLS NOT DISTINCT (campaign_id, day),
  constraint budget_account_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaign(campaign_id),
  constraint budget_account_check CHECK (((settled_micros + escrow_micros) <= cap_micros)),
  constraint budget_account_escrow_micros_check CHECK ((escrow_micros >= 0)),
  constraint budget_account_settled_micros_check CHECK ((settled_micros >= 0))
);

create table campaign (
  campaign_id integer generated always as identity,
  merch_id integer not null,
  model text not null,
  bid_micros bigint,
  exclusive_bid_micros bigint,
  rate_ppm integer,
  payment_micros bigint,
  roas double precision,
  daily_budget_micros bigint,
  budget_micros bigint,
  starts_at timestamp with time zone,
  ends_at timestamp with time zone,
  countries text[] not null default '{}'::text[],
  devices text[] not null default '{}'::text[],
  allow_publishers integer[] not null default '{}'::integer[],
  block_publishers integer[] not null default '{}'::integer[],
  tracker_impression text[] not null default '{}'::text[],
  tracker_viewable text[] not null default '{}'::text[],
  state text not null default 'active'::text,
  datetime_created timestamp with time zone not null default now(),
  datetime_updated timestamp with time zone not null default now(),
  clicks_per_address_hour integer not null default 10,
  clicks_per_address_day integer not null default 50,
  has_second_rate boolean not null default false,
  paused_by text,
  constraint campaign_pkey PRIMARY KEY (campaign_id),
  constraint campaign_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id),
  constraint campaign_budget_micros_check CHECK ((budget_micros > 0)),
  constraint campaign_check CHECK (((model <> 'cpc'::text) OR (bid_micros > 0))),
  constraint campaign_check1 CHECK (((model <> 'cpa'::text) OR (rate_ppm IS NOT NULL))),
  constraint campaign_check2 CHECK (((model <> 'epp'::text) OR (payment_micros > 0))),
  constraint campaign_check3 CHECK ((ends_at > starts_at)),
  constraint campaign_check4 CHECK (((state = 'paused'::text) OR (paused_by IS NULL))),
  constraint campaign_clicks_per_address_day_check CHECK ((clicks_per_address_day >= 1)),
  constraint campaign_clicks_per_address_hour_check CHECK ((clicks_per_address_hour >= 1)),
  constraint campaign_daily_budget_micros_check CHECK ((daily_budget_micros > 0)),
  constraint campaign_model_check CHECK ((model = ANY (ARRAY['cpc'::text, 'cpa'::text, 'epp'::text]))),
  constraint campaign_paused_by_check CHECK ((paused_by = ANY (ARRAY['merchant'::text, 'operator'::text]))),
  constraint campaign_rate_ppm_check CHECK (((rate_ppm >= 1) AND (rate_ppm <= 1000000))),
  constraint campaign_roas_check CHECK ((roas > (0)::double precision)),
  constraint campaign_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text])))
);
CREATE INDEX campaign_merchant ON campaign USING btree (merch_id);
CREATE TRIGGER campaign_changed AFTER INSERT OR DELETE OR UPDATE ON campaign FOR EACH STATEMENT EXECUTE FUNCTION notify_config();

create table click (
  event_id bigint not null,
  click_id bytea not null,
  result_number bytea not null,
  day date not null,
  at timestamp with time zone not null,
  pub_id integer not null,
  article_id integer not null,
  auction_id bigint not null,
  merch_id integer not null,
  campaign_id integer,
  offer_id bigint,
  model smallint not null,
  terms_amount bigint not null,
  share_ppm integer not null,
  merchant_cost_micros bigint not null,
  publisher_earnings_micros bigint not null,
  reason smallint not null,
  is_reserved boolean not null,
  visitor_key bytea,
  session_key bytea,
  reversed_at timestamp with time zone,
  reverse_reason text,
  offer_generation integer,
  reversal_event_id bigint,
  address_key bytea,
  agent_key bytea,
  visitor_returned boolean,
  constraint click_pkey PRIMARY KEY (event_id)
);
CREATE INDEX click_address ON click USING btree (address_key, COALESCE(campaign_id, 0), at) WHERE ((address_key IS NOT NULL) AND (reason = 0));
CREATE INDEX click_at ON click USING brin (at) WITH (pages_per_range='32', autosummarize='on');
CREATE INDEX click_click_id ON click USING hash (click_id);
CREATE INDEX click_merchant_at ON click USING btree (merch_id, at);
CREATE INDEX click_of_result ON click USING hash (result_number);
CREATE INDEX click_per_order ON click USING btree (merch_id, at) WHERE ((model = ANY (ARRAY[2, 3])) AND (reason = 0));
CREATE INDEX click_publisher_event ON click USING btree (pub_id, day, event_id);
CREATE UNIQUE INDEX click_result ON click USING btree (result_number) WHERE is_reserved;
CREATE INDEX click_reversal ON click USING btree (reversal_event_id) WHERE (reversal_event_id IS NOT NULL);
CREATE INDEX click_visitor ON click USING hash (visitor_key) WHERE ((visitor_key IS NOT NULL) AND (reason = 0));

create table click_debt (
  merch_id integer not null,
  pub_id integer not null,
  day date not null,
  cost_micros bigint not null,
  earnings_micros bigint not null,
  click_day date not null,
  constraint click_debt_pkey PRIMARY KEY (merch_id, pub_id, day, click_day)
);
CREATE INDEX click_debt_publisher ON click_debt USING btree (pub_id, merch_id);

create table click_figure (
  at timestamp with time zone not null,
  pub_id integer not null,
  article_id integer not null,
  auction_id bigint not null,
  merch_id integer not null,
  product_id bigint,
  device smallint not null,
  country text not null,
  u1 text not null,
  clicks smallint not null,
  invalid_clicks smallint not null,
  orders integer not null,
  revenue_micros bigint not null,
  earnings_micros bigint not null
);
CREATE INDEX click_figure_at ON click_figure USING brin (at);
CREATE INDEX click_figure_publisher ON click_figure USING btree (pub_id, at);

create table clicked_offer (
  offer_id bigint not null,
  from_generation integer not null,
  product_id bigint not null,
  category_id integer,
  brand text,
  title text not null,
  price_micros bigint not null,
  constraint clicked_offer_pkey PRIMARY KEY (offer_id, from_generation)
);
CREATE INDEX clicked_offer_product ON clicked_offer USING hash (product_id);

create table dashboard_session (
  token_hash bytea not null,
  uid integer not null,
  expires_at timestamp with time zone not null,
  session_id integer generated always as identity,
  datetime_created timestamp with time zone not null default now(),
  datetime_last_used timestamp with time zone not null default now(),
  user_agent text not null default ''::text,
  address text not null default ''::text,
  constraint dashboard_session_pkey PRIMARY KEY (token_hash),
  constraint dashboard_session_session_id_key UNIQUE (session_id),
  constraint dashboard_session_uid_fkey FOREIGN KEY (uid) REFERENCES app_user(uid)
);
CREATE INDEX dashboard_session_uid ON dashboard_session USING btree (uid);

create table event (
  day date not null,
  id bigint not null,
  seq bigint not null default nextval('event_seq'::regclass),
  lane smallint not null,
  type smallint not null,
  at timestamp with time zone not null,
  reason smallint not null default 0,
  pub_id integer,
  session_key bytea,
  auction_id bigint,
  result_number bytea,
  merch_id integer,
  campaign_id integer,
  offer_id bigint,
  model smallint,
  terms_amount bigint,
  share_ppm integer,
  lease_id bigint,
  reserved_micros bigint,
  click_id bytea,
  visitor_key bytea,
  address_key bytea,
  result_age_ms bigint,
  device smallint,
  ua_family text,
  country text,
  consent smallint,
  url text,
  url_key bytea,
  referrer text,
  u1 text,
  utm_source text,
  body jsonb,
  agent_key bytea,
  visitor_returned smallint,
  address_hour_max integer,
  address_day_max integer,
  constraint event_pkey PRIMARY KEY (day, id),
  constraint event_lane_check CHECK (((lane >= 0) AND (lane <= 15)))
) partition by RANGE (day);
CREATE INDEX event_lane ON ONLY event USING btree (lane, seq);

create table event_day_end (
  lane smallint not null,
  day date not null,
  seq bigint not null,
  constraint event_day_end_pkey PRIMARY KEY (lane, day)
);
CREATE INDEX event_day_end_seq ON event_day_end USING btree (lane, seq);

create table event_default partition of event DEFAULT;
CREATE TRIGGER note_late_event AFTER INSERT ON event_default FOR EACH ROW EXECUTE FUNCTION note_late_event();

create table event_open (
  is_only boolean not null default true,
  from_day date not null default '-infinity'::date,
  constraint event_open_pkey PRIMARY KEY (is_only),
  constraint event_open_is_only_check CHECK (is_only)
);

create table exchange_rate (
  rate_id bigint generated always as identity,
  source text not null,
  day date not null,
  currency text not null,
  usd_per_base text not null,
  currency_per_base text not null,
  datetime_created timestamp with time zone not null default now(),
  constraint exchange_rate_pkey PRIMARY KEY (rate_id)
);
CREATE INDEX exchange_rate_currency ON exchange_rate USING btree (currency, day);

create table feed_import (
  merch_id integer not null,
  constraint feed_import_pkey PRIMARY KEY (merch_id),
  constraint feed_import_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id)
);

create table feed_reject (
  import_id bigint not null,
  reject_id integer not null,
  line integer not null,
  sku text,
  field text,
  value text not null,
  reason text not null,
  detail text not null,
  constraint feed_reject_pkey PRIMARY KEY (import_id, reject_id),
  constraint feed_reject_import_id_fkey FOREIGN KEY (import_id) REFERENCES feed_run(import_id) ON DELETE CASCADE
);

create table feed_run (
  import_id bigint generated always as identity,
  merch_id integer not null,
  source text not null,
  is_dry_run boolean not null,
  state text not null,
  url text,
  rows bigint not null default 0,
  bytes_read bigint not null default 0,
  bytes_total bigint,
  result jsonb,
  error text,
  rejects_stored integer not null default 0,
  started_at timestamp with time zone not null default now(),
  alive_at timestamp with time zone not null default now(),
  ended_at timestamp with time zone,
  columns jsonb,
  constraint feed_run_pkey PRIMARY KEY (import_id),
  constraint feed_run_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id),
  constraint feed_run_source_check CHECK ((source = ANY (ARRAY['url'::text, 'upload'::text, 'schedule'::text, 'command'::text]))),
  constraint feed_run_state_check CHECK ((state = ANY (ARRAY['receiving'::text, 'waiting'::text, 'fetching'::text, 'importing'::text, 'done'::text, 'failed'::text])))
);
CREATE INDEX feed_run_merchant ON feed_run USING btree (merch_id, import_id);

create table feed_source (
  merch_id integer not null,
  url text not null,
  format text not null,
  tried_at timestamp with time zone not null,
  error text,
  map jsonb,
  currency text,
  element text,
  every_hours integer default 6,
  datetime_created timestamp with time zone not null default now(),
  datetime_updated timestamp with time zone not null default now(),
  constraint feed_source_pkey PRIMARY KEY (merch_id),
  constraint feed_source_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id)
);

create table figure_day (
  pub_id integer not null,
  property text collate "C" not null,
  day date not null,
  value text collate "C" not null,
  clicks bigint not null,
  invalid_clicks bigint not null,
  orders bigint not null,
  revenue_micros bigint not null,
  earnings_micros bigint not null,
  constraint figure_day_pkey PRIMARY KEY (pub_id, property, day, value),
  constraint figure_day_property_check CHECK ((property = ANY (ARRAY['link'::text, 'product'::text, 'device'::text, 'country'::text, 'u1'::text])))
);

create table figure_slot (
  pub_id integer not null,
  slot timestamp with time zone not null,
  clicks bigint not null,
  invalid_clicks bigint not null,
  orders bigint not null,
  revenue_micros bigint not null,
  earnings_micros bigint not null,
  constraint figure_slot_pkey PRIMARY KEY (pub_id, slot)
);

create table figure_span (
  pub_id integer not null,
  property text collate "C" not null,
  width smallint not null,
  first_day date not null,
  value text collate "C" not null,
  clicks bigint not null,
  invalid_clicks bigint not null,
  orders bigint not null,
  revenue_micros bigint not null,
  earnings_micros bigint not null,
  constraint figure_span_pkey PRIMARY KEY (pub_id, property, width, first_day, value),
  constraint figure_span_property_check CHECK ((property = ANY (ARRAY['article'::text, 'link'::text, 'merchant'::text, 'product'::text, 'device'::text, 'country'::text, 'u1'::text]))),
  constraint figure_span_width_check CHECK ((width = ANY (ARRAY[7, 28])))
) with (fillfactor=85);

create table former_postback_secret (
  merch_id integer not null,
  secret text not null,
  ends_at timestamp with time zone not null,
  constraint former_postback_secret_pkey PRIMARY KEY (merch_id, secret),
  constraint former_postback_secret_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id)
);

create table hash_key (
  purpose text not null,
  epoch integer not null,
  key bytea not null,
  constraint hash_key_pkey PRIMARY KEY (purpose, epoch),
  constraint hash_key_purpose_check CHECK ((purpose = ANY (ARRAY['session'::text, 'visitor'::text, 'address'::text])))
);

create table health_sample (
  at timestamp with time zone not null,
  lag_seconds real not null,
  events_waiting integer not null,
  nodes_alive integer not null,
  constraint health_sample_pkey PRIMARY KEY (at)
);

create table idempotent_response (
  caller text not null,
  idempotency_key text not null,
  body_hash bytea not null,
  status smallint,
  body text,
  created_at timestamp with time zone not null default now(),
  constraint idempotent_response_pkey PRIMARY KEY (caller, idempotency_key)
);

create table installation (
  id uuid not null
);
CREATE UNIQUE INDEX installation_only ON installation USING btree ((true));

create table intake_request (
  merch_id integer not null,
  signature bytea not null,
  idempotency_key text,
  body_hash bytea not null,
  status smallint,
  response text,
  at timestamp with time zone not null,
  constraint intake_request_pkey PRIMARY KEY (merch_id, signature),
  constraint intake_request_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id)
);
CREATE INDEX intake_request_at ON intake_request USING btree (at);
CREATE UNIQUE INDEX intake_request_key ON intake_request USING btree (merch_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);

create table intake_warning (
  merch_id integer not null,
  day date not null,
  kind text not null,
  count bigint not null,
  constraint intake_warning_pkey PRIMARY KEY (merch_id, day, kind),
  constraint intake_warning_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id)
);

create table invitation (
  invitation_id integer generated always as identity,
  pub_id integer,
  merch_id integer,
  email text not null,
  role text not null,
  token_hash bytea not null,
  invited_by integer,
  datetime_created timestamp with time zone not null,
  datetime_updated timestamp with time zone not null,
  datetime_expires timestamp with time zone not null,
  datetime_accepted timestamp with time zone,
  datetime_withdrawn timestamp with time zone,
  constraint invitation_pkey PRIMARY KEY (invitation_id),
  constraint invitation_token_hash_key UNIQUE (token_hash),
  constraint invitation_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES app_user(uid),
  constraint invitation_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id),
  constraint invitation_pub_id_fkey FOREIGN KEY (pub_id) REFERENCES publisher(pub_id),
  constraint invitation_check CHECK (((pub_id IS NULL) OR (merch_id IS NULL))),
  constraint invitation_check1 CHECK (((datetime_accepted IS NULL) OR (datetime_withdrawn IS NULL))),
  constraint invitation_check2 CHECK (
CASE
    WHEN ((pub_id IS NULL) AND (merch_id IS NULL)) THEN (role = ANY (ARRAY['admin'::text, 'staff'::text]))
    ELSE (role = ANY (ARRAY['owner'::text, 'manager'::text, 'viewer'::text]))
END)
);
CREATE INDEX invitation_expires ON invitation USING btree (datetime_expires);
CREATE INDEX invitation_organization ON invitation USING btree (pub_id, merch_id, invitation_id);

create table job (
  task text not null,
  next_at timestamp with time zone not null,
  worker text,
  leased_until timestamp with time zone,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  succeeded_at timestamp with time zone,
  error text,
  failures integer not null default 0,
  constraint job_pkey PRIMARY KEY (task),
  constraint job_check CHECK (((worker IS NULL) = (leased_until IS NULL)))
);

create table keyless_link_hour (
  pub_id integer not null,
  hour timestamp with time zone not null,
  links integer not null,
  constraint keyless_link_hour_pkey PRIMARY KEY (pub_id, hour),
  constraint keyless_link_hour_pub_id_fkey FOREIGN KEY (pub_id) REFERENCES publisher(pub_id)
);

create table lane (
  lane smallint not null,
  "position" bigint not null default 0,
  watermark timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint lane_pkey PRIMARY KEY (lane)
);

create table lease (
  lease_id bigint not null default ((((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric))::bigint * 1000) + (nextval('lease_id_seq'::regclass) % (1000)::bigint)),
  campaign_id integer not null,
  day date not null,
  node_id integer not null,
  incarnation bigint not null,
  granted_micros bigint not null,
  reserved_folded_micros bigint not null default 0,
  paid_folded_micros bigint not null default 0,
  request_no bigint not null,
  expires_at timestamp with time zone not null,
  released_at timestamp with time zone,
  closed_at timestamp with time zone,
  spent_micros bigint not null default 0,
  lost_seq bigint,
  is_recalled boolean not null default false,
  in_flight_micros bigint not null default 0,
  constraint lease_pkey PRIMARY KEY (lease_id),
  constraint lease_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaign(campaign_id),
  constraint lease_check CHECK ((reserved_folded_micros <= granted_micros)),
  constraint lease_check1 CHECK ((paid_folded_micros <= reserved_folded_micros)),
  constraint lease_granted_micros_check CHECK ((granted_micros >= 0)),
  constraint lease_paid_folded_micros_check CHECK ((paid_folded_micros >= 0)),
  constraint lease_reserved_folded_micros_check CHECK ((reserved_folded_micros >= 0))
);
CREATE UNIQUE INDEX lease_active ON lease USING btree (campaign_id, day, node_id, incarnation) WHERE ((released_at IS NULL) AND (closed_at IS NULL));
CREATE INDEX lease_open ON lease USING btree (node_id, incarnation) WHERE (closed_at IS NULL);
CREATE INDEX lease_recalled ON lease USING btree (node_id) WHERE (is_recalled AND (closed_at IS NULL));

create table ledger_line (
  transaction_id bigint not null,
  line smallint not null,
  account text not null,
  day date not null,
  merch_id integer not null,
  pub_id integer not null,
  article_id integer not null,
  amount_micros bigint not null,
  constraint ledger_line_pkey PRIMARY KEY (transaction_id, line),
  constraint ledger_line_account_check CHECK ((account = ANY (ARRAY['merchant'::text, 'publisher'::text, 'platform'::text, 'bank'::text])))
);
CREATE INDEX ledger_line_merchant ON ledger_line USING btree (merch_id, day);
CREATE TRIGGER ledger_line_append_only BEFORE DELETE OR UPDATE ON ledger_line FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table ledger_transaction (
  transaction_id bigint generated always as identity,
  idempotency_key text not null,
  kind text not null,
  day date not null,
  at timestamp with time zone not null,
  event_id bigint not null,
  corrects text,
  constraint ledger_transaction_pkey PRIMARY KEY (transaction_id),
  constraint ledger_transaction_idempotency_key_key UNIQUE (idempotency_key)
);
CREATE INDEX ledger_transaction_corrects ON ledger_transaction USING btree (corrects) WHERE (corrects IS NOT NULL);
CREATE INDEX ledger_transaction_event ON ledger_transaction USING brin (event_id) WITH (pages_per_range='32', autosummarize='on');
CREATE TRIGGER ledger_transaction_append_only BEFORE DELETE OR UPDATE ON ledger_transaction FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table link_check (
  url_hash bytea not null,
  url text not null,
  failed_at timestamp with time zone,
  dead_since timestamp with time zone,
  detail text,
  due_at timestamp with time zone not null,
  checked_at timestamp with time zone,
  constraint link_check_pkey PRIMARY KEY (url_hash)
);
CREATE INDEX link_check_due ON link_check USING btree (due_at);

create table link_day (
  pub_id integer not null,
  auction_id bigint not null,
  day date not null,
  impressions bigint not null default 0,
  viewable_impressions bigint not null default 0,
  constraint link_day_pkey PRIMARY KEY (pub_id, auction_id, day)
);

create table link_health (
  auction_id bigint not null,
  pub_id integer not null,
  article_id integer not null,
  health text not null,
  since timestamp with time zone not null,
  risk_micros bigint not null,
  checked_at timestamp with time zone not null,
  constraint link_health_pkey PRIMARY KEY (auction_id),
  constraint link_health_auction_id_fkey FOREIGN KEY (auction_id) REFERENCES smart_link(auction_id) ON DELETE CASCADE,
  constraint link_health_health_check CHECK ((health = ANY (ARRAY['earning'::text, 'no_bid'::text, 'out_of_stock'::text, 'dead'::text, 'disabled'::text, 'new'::text])))
);
CREATE INDEX link_health_publisher ON link_health USING btree (pub_id, risk_micros DESC);

create table membership (
  membership_id integer generated always as identity,
  uid integer not null,
  pub_id integer,
  merch_id integer,
  role text not null,
  datetime_created timestamp with time zone not null default now(),
  datetime_updated timestamp with time zone not null default now(),
  constraint membership_pkey PRIMARY KEY (membership_id),
  constraint membership_uid_pub_id_merch_id_key UNIQUE NULLS NOT DISTINCT (uid, pub_id, merch_id),
  constraint membership_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id),
  constraint membership_pub_id_fkey FOREIGN KEY (pub_id) REFERENCES publisher(pub_id),
  constraint membership_uid_fkey FOREIGN KEY (uid) REFERENCES app_user(uid),
  constraint membership_check CHECK (((pub_id IS NULL) OR (merch_id IS NULL))),
  constraint membership_check1 CHECK (
CASE
    WHEN ((pub_id IS NULL) AND (merch_id IS NULL)) THEN (role = ANY (ARRAY['admin'::text, 'staff'::text]))
    ELSE (role = ANY (ARRAY['owner'::text, 'manager'::text, 'viewer'::text]))
END)
);
CREATE INDEX membership_merchant ON membership USING btree (merch_id) WHERE (merch_id IS NOT NULL);
CREATE INDEX membership_publisher ON membership USING btree (pub_id) WHERE (pub_id IS NOT NULL);

create table merchant (
  merch_id integer generated always as identity,
  uid integer,
  name text not null,
  click_param text not null default 'cid'::text,
  deep_link text,
  window_days integer not null default 30,
  origins text[] not null default '{}'::text[],
  postback_secret text not null,
  generation integer not null default 0,
  feed_imported_at timestamp with time zone,
  datetime_created timestamp with time zone not null default now(),
  datetime_updated timestamp with time zone not null default now(),
  post_impression_rate_ppm integer,
  is_confirming boolean not null default false,
  default_currency text,
  allows_second_rate boolean not null default false,
  is_suspended boolean not null default false,
  constraint merchant_pkey PRIMARY KEY (merch_id),
  constraint merchant_uid_fkey FOREIGN KEY (uid) REFERENCES app_user(uid),
  constraint merchant_post_impression_rate_ppm_check CHECK (((post_impression_rate_ppm >= 1) AND (post_impression_rate_ppm <= 1000000))),
  constraint merchant_window_days_check CHECK (((window_days >= 1) AND (window_days <= 90)))
);
CREATE INDEX merchant_post_impression ON merchant USING btree (merch_id) WHERE (post_impression_rate_ppm IS NOT NULL);
CREATE TRIGGER merchant_changed AFTER INSERT OR DELETE OR UPDATE ON merchant FOR EACH STATEMENT EXECUTE FUNCTION notify_config();

create table merchant_domain (
  domain text not null,
  merch_id integer not null,
  "position" integer not null,
  constraint merchant_domain_pkey PRIMARY KEY (domain),
  constraint merchant_domain_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id)
);
CREATE INDEX merchant_domain_merchant ON merchant_domain USING btree (merch_id);
CREATE TRIGGER merchant_domain_changed AFTER INSERT OR DELETE OR UPDATE ON merchant_domain FOR EACH STATEMENT EXECUTE FUNCTION notify_config();

create table merchant_order (
  merch_id integer not null,
  order_id text not null,
  account jsonb not null,
  is_posted boolean not null,
  event_id bigint,
  day date,
  accepted_at timestamp with time zone,
  source text,
  ordered_at timestamp with time zone,
  currency text,
  value text,
  rate_id text,
  hold text,
  click_id bytea,
  attribution text,
  pub_id integer,
  article_id integer,
  campaign_id integer,
  model smallint,
  locks_at timestamp with time zone,
  rejected_at timestamp with time zone,
  reject_reason text,
  revenue_micros bigint not null default 0,
  commission_micros bigint not null default 0,
  earnings_micros bigint not null default 0,
  net_sales smallint not null default 0,
  net_revenue_micros bigint not null default 0,
  net_commission_micros bigint not null default 0,
  net_earnings_micros bigint not null default 0,
  constraint merchant_order_pkey PRIMARY KEY (merch_id, order_id)
);
CREATE INDEX merchant_order_accepted ON merchant_order USING btree (merch_id, accepted_at);
CREATE INDEX merchant_order_click ON merchant_order USING btree (click_id) WHERE (click_id IS NOT NULL);
CREATE INDEX merchant_order_event ON merchant_order USING btree (event_id);
CREATE INDEX merchant_order_hold ON merchant_order USING btree (hold) WHERE (hold IS NOT NULL);
CREATE INDEX merchant_order_locks ON merchant_order USING btree (locks_at) WHERE ((pub_id IS NOT NULL) AND (rejected_at IS NULL));
CREATE INDEX merchant_order_publisher ON merchant_order USING btree (pub_id, day) WHERE (pub_id IS NOT NULL);
CREATE INDEX merchant_order_unknown_click ON merchant_order USING btree (merch_id, order_id) WHERE (((attribution IS NULL) OR (attribution <> 'exact'::text)) AND (rejected_at IS NULL) AND (account @> '{"evidence": [{"verdict": "unknown_click"}]}'::jsonb));

create table merchant_payment (
  event_id bigint not null,
  merch_id integer not null,
  reference text not null,
  paid_on date not null,
  amount_micros bigint not null,
  day date not null,
  at timestamp with time zone not null,
  reversal_event_id bigint,
  reversed_at timestamp with time zone,
  reverse_reason text,
  constraint merchant_payment_pkey PRIMARY KEY (event_id),
  constraint merchant_payment_merch_id_reference_key UNIQUE (merch_id, reference),
  constraint merchant_payment_amount_micros_check CHECK ((amount_micros > 0))
);

create table merchant_signal (
  merch_id integer not null,
  kind text not null,
  last_at timestamp with time zone not null,
  constraint merchant_signal_pkey PRIMARY KEY (merch_id, kind),
  constraint merchant_signal_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id),
  constraint merchant_signal_kind_check CHECK ((kind = ANY (ARRAY['tag_page'::text, 'tag_checkout'::text, 'server_order'::text, 'server_return'::text])))
);

create table network_partition (
  network text not null,
  account text not null,
  report_date date not null,
  import_id bigint not null,
  rows_hash bytea not null,
  rows integer not null,
  event_id bigint not null,
  at timestamp with time zone not null,
  until timestamp with time zone,
  partition_no bigint generated always as identity,
  constraint network_partition_pkey PRIMARY KEY (import_id)
);
CREATE INDEX network_partition_before ON network_partition USING btree (network, account, report_date, partition_no);
CREATE UNIQUE INDEX network_partition_no ON network_partition USING btree (partition_no);
CREATE UNIQUE INDEX network_partition_shown ON network_partition USING btree (network, account, report_date) WHERE (until IS NULL);

create table network_row (
  import_id bigint not null,
  "row" integer not null,
  pub_id integer not null,
  article_id integer not null,
  report_date date not null,
  advertiser text,
  clicks bigint not null,
  sales bigint not null,
  revenue_micros bigint not null,
  earnings_micros bigint not null,
  transaction_id text,
  original_id text,
  order_id text,
  item text,
  posted text,
  amounts text,
  are_sales_reported boolean,
  constraint network_row_pkey PRIMARY KEY (import_id, "row")
);
CREATE INDEX network_row_order ON network_row USING btree (order_id) WHERE (order_id IS NOT NULL);
CREATE INDEX network_row_original ON network_row USING btree (original_id) WHERE (original_id IS NOT NULL);
CREATE INDEX network_row_publisher ON network_row USING btree (pub_id, report_date);
CREATE INDEX network_row_transaction ON network_row USING btree (transaction_id) WHERE (transaction_id IS NOT NULL);

create table node (
  node_id integer not null,
  incarnation bigint not null default 1,
  host text not null,
  pid integer not null,
  roles text not null,
  started_at timestamp with time zone not null default now(),
  heartbeat_at timestamp with time zone not null default now(),
  is_spool_empty boolean not null default true,
  closed_incarnation bigint not null default 0,
  knows_countries boolean not null default false,
  key_fingerprints text[] not null default '{}'::text[],
  settings jsonb not null default '{}'::jsonb,
  constraint node_pkey PRIMARY KEY (node_id),
  constraint node_node_id_check CHECK (((node_id >= 1) AND (node_id <= 1023)))
);

create table notice_position (
  name text not null,
  change_id bigint not null default 0,
  at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint notice_position_pkey PRIMARY KEY (name)
);

create table offer (
  offer_id bigint not null default nextval('offer_id_seq'::regclass),
  from_generation integer not null,
  to_generation integer,
  merch_id integer not null,
  sku text not null,
  product_id bigint not null generated always as (COALESCE(gtin14, ('100000000000000'::bigint + offer_id))) stored,
  gtin14 bigint,
  gtin_text text,
  title text not null,
  brand text,
  mpn text,
  url text not null,
  url_key bytea not null,
  image_url text,
  price_micros bigint not null,
  is_in_stock boolean not null,
  category_id integer,
  content_hash bytea not null,
  regular_price_micros bigint,
  description text,
  color text,
  size text,
  item_group_id text,
  constraint offer_pkey PRIMARY KEY (offer_id, from_generation),
  constraint offer_price_micros_check CHECK ((price_micros > 0))
) with (fillfactor=90);
CREATE INDEX offer_gtin_text ON offer USING btree (gtin_text) WHERE ((gtin14 IS NULL) AND (gtin_text IS NOT NULL));
CREATE INDEX offer_merchant ON offer USING btree (merch_id);
CREATE INDEX offer_product ON offer USING hash (product_id);
CREATE UNIQUE INDEX offer_sku ON offer USING btree (sku, merch_id, from_generation);
CREATE INDEX offer_url ON offer USING hash (url_key);

create table offer_words (
  offer_id bigint not null,
  merch_id integer not null,
  words tsvector not null,
  constraint offer_words_pkey PRIMARY KEY (offer_id),
  constraint offer_words_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id)
);
CREATE INDEX offer_words_merchant ON offer_words USING btree (merch_id);
CREATE INDEX offer_words_words ON offer_words USING gin (words);

create table offer_words_state (
  merch_id integer not null,
  generation integer not null,
  constraint offer_words_state_pkey PRIMARY KEY (merch_id),
  constraint offer_words_state_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id)
);

create table open_click_sum (
  merch_id integer not null,
  campaign_id integer not null,
  pub_id integer not null,
  model smallint not null,
  terms_amount bigint not null,
  waiting double precision[] not null
);

create table open_click_unsummed (
  merch_id integer not null,
  click_id bytea not null
);
CREATE INDEX open_click_unsummed_merchant ON open_click_unsummed USING btree (merch_id);

create table order_line (
  merch_id integer not null,
  order_id text not null,
  line smallint not null,
  order_product_id text not null,
  product_id text,
  name text,
  brand text,
  price text,
  quantity integer not null,
  returned integer not null,
  revenue_micros bigint not null,
  commission_micros bigint not null,
  earnings_micros bigint not null,
  constraint order_line_pkey PRIMARY KEY (merch_id, order_id, line)
);

create table order_return (
  merch_id integer not null,
  order_id text not null,
  return_id text not null,
  event_id bigint not null,
  day date not null,
  accepted_at timestamp with time zone not null,
  returned_at timestamp with time zone not null,
  line smallint,
  product_id text,
  quantity integer not null,
  state text not null,
  reason text,
  amount text,
  currency text,
  constraint order_return_pkey PRIMARY KEY (merch_id, order_id, return_id),
  constraint order_return_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'applied'::text, 'refused'::text])))
);
CREATE INDEX order_return_day ON order_return USING btree (day);
CREATE INDEX order_return_merchant ON order_return USING btree (merch_id, event_id);

create table order_return_line (
  merch_id integer not null,
  order_id text not null,
  return_id text not null,
  line smallint not null,
  quantity integer not null,
  revenue_micros bigint not null,
  commission_micros bigint not null,
  earnings_micros bigint not null,
  constraint order_return_line_pkey PRIMARY KEY (merch_id, order_id, return_id, line)
);

create table outgoing_mail (
  mail_id bigint generated always as identity,
  kind text not null,
  recipient text not null,
  subject text,
  body text,
  attempts smallint not null default 0,
  due_at timestamp with time zone not null,
  datetime_created timestamp with time zone not null,
  constraint outgoing_mail_pkey PRIMARY KEY (mail_id),
  constraint outgoing_mail_check CHECK (((kind = 'text'::text) = ((subject IS NOT NULL) AND (body IS NOT NULL)))),
  constraint outgoing_mail_kind_check CHECK ((kind = ANY (ARRAY['text'::text, 'password_reset'::text])))
);
CREATE INDEX outgoing_mail_due ON outgoing_mail USING btree (due_at);
CREATE UNIQUE INDEX outgoing_mail_reset ON outgoing_mail USING btree (lower(recipient)) WHERE (kind = 'password_reset'::text);
CREATE TRIGGER outgoing_mail_queued AFTER INSERT ON outgoing_mail FOR EACH STATEMENT EXECUTE FUNCTION send_mail_now();

create table page_day (
  pub_id integer not null,
  url_key bytea not null,
  day date not null,
  impressions bigint not null default 0,
  robot_impressions bigint not null default 0,
  changed_at timestamp with time zone not null default now(),
  constraint page_day_pkey PRIMARY KEY (pub_id, url_key, day)
);
CREATE INDEX page_day_changed ON page_day USING btree (pub_id, changed_at);
CREATE INDEX page_day_day ON page_day USING btree (pub_id, day);

create table page_session (
  pub_id integer not null,
  session_key bytea not null,
  day date not null,
  constraint page_session_pkey PRIMARY KEY (pub_id, session_key)
);
CREATE INDEX page_session_day ON page_session USING btree (day);

create table page_slot (
  pub_id integer not null,
  url_key bytea not null,
  slot timestamp with time zone not null,
  impressions bigint not null,
  constraint page_slot_pkey PRIMARY KEY (pub_id, url_key, slot)
);
CREATE INDEX page_slot_time ON page_slot USING brin (slot);

create table page_span (
  pub_id integer not null,
  width smallint not null,
  first_day date not null,
  url_key bytea not null,
  impressions bigint not null,
  constraint page_span_pkey PRIMARY KEY (pub_id, width, first_day, url_key),
  constraint page_span_width_check CHECK ((width = ANY (ARRAY[7, 28])))
) with (fillfactor=85);

create table paid_payout (
  pub_id integer not null,
  month date not null,
  paid_on date not null,
  reference text,
  confirmed_at timestamp with time zone not null,
  constraint paid_payout_pkey PRIMARY KEY (pub_id, month),
  constraint paid_payout_pub_id_month_fkey FOREIGN KEY (pub_id, month) REFERENCES statement(pub_id, month)
);

create table pair_evidence (
  pub_id integer not null,
  merch_id integer not null,
  half_life_days smallint not null,
  clicks double precision not null,
  squared_clicks double precision not null,
  unripe double precision[] not null,
  invalid double precision not null,
  orders double precision not null,
  value double precision not null,
  log_value double precision not null,
  log_value_square double precision not null,
  as_of timestamp with time zone not null,
  constraint pair_evidence_pkey PRIMARY KEY (pub_id, merch_id, half_life_days)
);

create table passkey (
  passkey_id integer generated always as identity,
  uid integer not null,
  credential_id text not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  datetime_created timestamp with time zone not null,
  datetime_updated timestamp with time zone not null,
  datetime_last_used timestamp with time zone,
  constraint passkey_pkey PRIMARY KEY (passkey_id),
  constraint passkey_credential_id_key UNIQUE (credential_id),
  constraint passkey_uid_fkey FOREIGN KEY (uid) REFERENCES app_user(uid)
);
CREATE INDEX passkey_uid ON passkey USING btree (uid);

create table passkey_registration (
  uid integer not null,
  challenge text not null,
  expires_at timestamp with time zone not null,
  constraint passkey_registration_pkey PRIMARY KEY (uid),
  constraint passkey_registration_uid_fkey FOREIGN KEY (uid) REFERENCES app_user(uid)
);

create table password_reset (
  token_hash bytea not null,
  uid integer not null,
  expires_at timestamp with time zone not null,
  constraint password_reset_pkey PRIMARY KEY (token_hash),
  constraint password_reset_uid_fkey FOREIGN KEY (uid) REFERENCES app_user(uid)
);
CREATE INDEX password_reset_uid ON password_reset USING btree (uid);

create table prediction_model (
  day date not null,
  model jsonb not null,
  fitted_at timestamp with time zone not null,
  constraint prediction_model_pkey PRIMARY KEY (day)
);

create table product_word (
  word text not null,
  constraint product_word_pkey PRIMARY KEY (word)
);
CREATE INDEX product_word_similar ON product_word USING gin (word gin_trgm_ops);

create table publisher (
  pub_id integer generated always as identity,
  uid integer not null,
  name text not null,
  slug text not null,
  is_partner boolean not null default false,
  share_ppm integer not null default 750000,
  domains text[] not null default '{}'::text[],
  floor_micros bigint not null default 0,
  tolerance_ppm integer not null default 50000,
  beta double precision not null default 1,
  epsilon_ppm integer not null default 50000,
  allow_merchants integer[] not null default '{}'::integer[],
  block_merchants integer[] not null default '{}'::integer[],
  allow_hosts text[] not null default '{}'::text[],
  linkmate_scope text not null default 'all'::text,
  consent_default text not null default 'full'::text,
  is_price_required boolean not null default false,
  datetime_created timestamp with time zone not null default now(),
  datetime_updated timestamp with time zone not null default now(),
  category_floors jsonb not null default '[]'::jsonb,
  time_zone text not null default 'UTC'::text,
  is_suspended boolean not null default false,
  constraint publisher_pkey PRIMARY KEY (pub_id),
  constraint publisher_uid_fkey FOREIGN KEY (uid) REFERENCES app_user(uid),
  constraint publisher_beta_check CHECK (((beta >= (0)::double precision) AND (beta <= (3)::double precision))),
  constraint publisher_consent_default_check CHECK ((consent_default = ANY (ARRAY['full'::text, 'contextual'::text]))),
  constraint publisher_epsilon_ppm_check CHECK (((epsilon_ppm >= 0) AND (epsilon_ppm <= 100000))),
  constraint publisher_floor_micros_check CHECK ((floor_micros >= 0)),
  constraint publisher_linkmate_scope_check CHECK ((linkmate_scope = ANY (ARRAY['all'::text, 'network'::text]))),
  constraint publisher_share_ppm_check CHECK (((share_ppm >= 0) AND (share_ppm <= 1000000))),
  constraint publisher_tolerance_ppm_check CHECK (((tolerance_ppm >= 0) AND (tolerance_ppm <= 200000)))
);
CREATE UNIQUE INDEX publisher_slug ON publisher USING btree (lower(slug));
CREATE INDEX publisher_uid ON publisher USING btree (uid);
CREATE TRIGGER publisher_changed AFTER INSERT OR DELETE OR UPDATE ON publisher FOR EACH STATEMENT EXECUTE FUNCTION notify_config();

create table receipt (
  result_number bytea not null,
  at timestamp with time zone not null,
  pub_id integer not null,
  auction_id bigint not null,
  merch_id integer not null,
  packed bytea not null,
  constraint receipt_pkey PRIMARY KEY (result_number)
);
CREATE INDEX receipt_at ON receipt USING btree (at);
CREATE INDEX receipt_link ON receipt USING btree (auction_id, at DESC, result_number DESC);
CREATE INDEX receipt_publisher ON receipt USING btree (pub_id, at);

create table reconciliation (
  at timestamp with time zone not null,
  from_day date not null,
  to_day date not null,
  events bigint not null,
  differences integer not null,
  first_differences jsonb not null default '[]'::jsonb,
  constraint reconciliation_pkey PRIMARY KEY (at)
);

create table recovery_code (
  uid integer not null,
  code_hash bytea not null,
  constraint recovery_code_pkey PRIMARY KEY (uid, code_hash),
  constraint recovery_code_uid_fkey FOREIGN KEY (uid) REFERENCES app_user(uid)
);

create table refused_event (
  stream text not null,
  created text not null,
  "position" bigint not null,
  event text not null,
  error text not null,
  at timestamp with time zone not null default now()
);

create table refused_intake (
  refused_id bigint generated always as identity,
  at timestamp with time zone not null,
  merch_id integer,
  endpoint text not null,
  reason text not null,
  faults jsonb not null,
  body text not null,
  origin text,
  is_proven boolean not null default false,
  is_accepted boolean not null default false,
  constraint refused_intake_pkey PRIMARY KEY (refused_id)
);
CREATE INDEX refused_intake_at ON refused_intake USING btree (at);
CREATE INDEX refused_intake_shown ON refused_intake USING btree (merch_id, is_proven, at);

create table report_delivery (
  delivery_id integer generated always as identity,
  pub_id integer not null,
  target text not null,
  endpoint text,
  region text,
  access_key text,
  secret_key text,
  is_gzip boolean not null default false,
  is_guarded boolean not null default false,
  requested_at timestamp with time zone,
  delivered_at timestamp with time zone,
  error text,
  tried_at timestamp with time zone,
  constraint report_delivery_pkey PRIMARY KEY (delivery_id),
  constraint report_delivery_pub_id_fkey FOREIGN KEY (pub_id) REFERENCES publisher(pub_id)
);
CREATE UNIQUE INDEX report_delivery_target ON report_delivery USING btree (pub_id, target);

create table roas_multiplier (
  campaign_id integer not null,
  multiplier double precision not null,
  stepped_at timestamp with time zone not null,
  constraint roas_multiplier_pkey PRIMARY KEY (campaign_id),
  constraint roas_multiplier_campaign_id_fkey FOREIGN KEY (campaign_id) REFERENCES campaign(campaign_id),
  constraint roas_multiplier_multiplier_check CHECK (((multiplier >= (0.2)::double precision) AND (multiplier <= (5)::double precision)))
);

create table seen_link (
  session_key bytea not null,
  auction_id bigint not null,
  merch_id integer not null,
  placed_at timestamp with time zone not null,
  event_id bigint,
  seen_at timestamp with time zone,
  constraint seen_link_pkey PRIMARY KEY (session_key, auction_id, merch_id)
);
CREATE INDEX seen_link_placed ON seen_link USING btree (placed_at);

create table sent_alert (
  pub_id integer not null,
  kind text not null,
  key text not null,
  at timestamp with time zone not null,
  constraint sent_alert_pkey PRIMARY KEY (pub_id, kind, key)
);

create table sign_in_challenge (
  token_hash bytea not null,
  uid integer not null,
  password_hash text not null,
  passkey_challenge text not null,
  expires_at timestamp with time zone not null,
  constraint sign_in_challenge_pkey PRIMARY KEY (token_hash),
  constraint sign_in_challenge_uid_fkey FOREIGN KEY (uid) REFERENCES app_user(uid)
);
CREATE INDEX sign_in_challenge_expiry ON sign_in_challenge USING btree (expires_at);

create table smart_link (
  auction_id bigint not null,
  smart_link_id integer generated always as identity,
  pub_id integer not null,
  article_id integer not null,
  uid_created integer,
  url text,
  url_hash bytea not null,
  is_exclusive boolean not null default false,
  source text not null,
  is_keyless boolean not null default false,
  unwraps boolean not null default true,
  state text not null default 'active'::text,
  datetime_created timestamp with time zone not null default now(),
  datetime_updated timestamp with time zone not null default now(),
  is_article_given boolean not null default false,
  disabled_by text,
  constraint smart_link_pkey PRIMARY KEY (auction_id),
  constraint smart_link_article_id_fkey FOREIGN KEY (article_id) REFERENCES article(article_id),
  constraint smart_link_pub_id_fkey FOREIGN KEY (pub_id) REFERENCES publisher(pub_id),
  constraint smart_link_uid_created_fkey FOREIGN KEY (uid_created) REFERENCES app_user(uid),
  constraint smart_link_disabled_by_check CHECK ((disabled_by = ANY (ARRAY['publisher'::text, 'operator'::text]))),
  constraint smart_link_source_check CHECK ((source = ANY (ARRAY['api'::text, 'linkmate'::text, 'wrapper'::text]))),
  constraint smart_link_state_check CHECK ((state = ANY (ARRAY['active'::text, 'disabled'::text])))
);
CREATE INDEX smart_link_disabled ON smart_link USING btree (auction_id) WHERE (state = 'disabled'::text);
CREATE UNIQUE INDEX smart_link_found ON smart_link USING btree (article_id, url_hash, is_exclusive, unwraps) WHERE (source <> 'api'::text);
CREATE INDEX smart_link_identity ON smart_link USING btree (article_id, url_hash, is_exclusive);
CREATE INDEX smart_link_publisher ON smart_link USING btree (pub_id, auction_id);
CREATE TRIGGER smart_link_changed AFTER UPDATE ON smart_link FOR EACH ROW WHEN (((((old.state IS DISTINCT FROM new.state) OR (old.is_keyless IS DISTINCT FROM new.is_keyless)) OR (old.url IS DISTINCT FROM new.url)) OR (old.is_exclusive IS DISTINCT FROM new.is_exclusive))) EXECUTE FUNCTION notify_config();
CREATE TRIGGER smart_link_deleted AFTER DELETE ON smart_link FOR EACH STATEMENT EXECUTE FUNCTION notify_config();

create table statement (
  pub_id integer not null,
  month date not null,
  opening_micros bigint not null,
  released_micros bigint not null,
  reversed_micros bigint not null,
  payout_micros bigint not null,
  closing_micros bigint not null,
  issued_at timestamp with time zone not null,
  "position" bigint,
  constraint statement_pkey PRIMARY KEY (pub_id, month),
  constraint statement_pub_id_fkey FOREIGN KEY (pub_id) REFERENCES publisher(pub_id),
  constraint statement_check CHECK ((closing_micros = (((opening_micros + released_micros) - reversed_micros) - payout_micros))),
  constraint statement_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric))
);
CREATE TRIGGER statement_append_only BEFORE DELETE OR UPDATE ON statement FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table stats_change (
  change_id bigint generated always as identity,
  changed_at timestamp with time zone not null default now(),
  cause text not null,
  event_ids bigint[] not null,
  day date not null,
  pub_id integer not null,
  article_id integer not null,
  merch_id integer not null,
  clicks bigint not null default 0,
  sales bigint not null default 0,
  revenue_micros bigint not null default 0,
  earnings_micros bigint not null default 0,
  constraint stats_change_pkey PRIMARY KEY (change_id)
);
CREATE INDEX stats_change_publisher ON stats_change USING btree (pub_id, changed_at);
CREATE TRIGGER stats_change_append_only BEFORE DELETE OR UPDATE ON stats_change FOR EACH ROW EXECUTE FUNCTION refuse_change();

create table stats_day (
  day date not null,
  pub_id integer not null,
  article_id integer not null,
  merch_id integer not null,
  clicks bigint not null default 0,
  invalid_clicks bigint not null default 0,
  placements bigint not null default 0,
  sales bigint not null default 0,
  revenue_micros bigint not null default 0,
  earnings_micros bigint not null default 0,
  is_row boolean not null default true,
  placed_at timestamp with time zone,
  constraint stats_day_pkey PRIMARY KEY (pub_id, day, article_id, merch_id)
);
CREATE INDEX stats_day_clicks ON stats_day USING btree (pub_id, clicks DESC, day DESC, article_id, merch_id);
CREATE INDEX stats_day_merchant ON stats_day USING btree (merch_id, day);
CREATE INDEX stats_day_placed ON stats_day USING btree (pub_id, placed_at) WHERE (placed_at IS NOT NULL);

create table stored_bytes (
  day date not null,
  kind text not null,
  organization_id integer not null,
  bytes bigint not null,
  left_out bigint not null,
  constraint stored_bytes_pkey PRIMARY KEY (day, kind, organization_id)
);

create table stream_day (
  stream text not null,
  created text not null,
  day date not null default CURRENT_DATE,
  "position" bigint not null,
  constraint stream_day_pkey PRIMARY KEY (stream, created, day),
  constraint stream_day_stream_created_fkey FOREIGN KEY (stream, created) REFERENCES stream_position(stream, created) ON DELETE CASCADE
);

create table stream_position (
  stream text not null,
  created text not null,
  "position" bigint not null default 0,
  digest bytea,
  constraint stream_position_pkey PRIMARY KEY (stream, created)
);

create table tag_check (
  check_id integer generated always as identity,
  pub_id integer not null,
  url text not null,
  state text not null default 'waiting'::text,
  error text,
  result jsonb,
  screenshot bytea,
  datetime_created timestamp with time zone not null default now(),
  datetime_updated timestamp with time zone not null default now(),
  constraint tag_check_pkey PRIMARY KEY (check_id),
  constraint tag_check_pub_id_fkey FOREIGN KEY (pub_id) REFERENCES publisher(pub_id),
  constraint tag_check_check CHECK (((state = 'failed'::text) = (error IS NOT NULL))),
  constraint tag_check_check1 CHECK (((state = 'done'::text) = (result IS NOT NULL))),
  constraint tag_check_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'running'::text, 'done'::text, 'failed'::text])))
);
CREATE UNIQUE INDEX tag_check_open ON tag_check USING btree (pub_id) WHERE (state = ANY (ARRAY['waiting'::text, 'running'::text]));
CREATE INDEX tag_check_publisher ON tag_check USING btree (pub_id, check_id);
CREATE TRIGGER tag_check_queued AFTER INSERT ON tag_check FOR EACH STATEMENT EXECUTE FUNCTION check_tags_now();

create table tag_day (
  pub_id integer not null,
  day date not null,
  host text not null,
  consent smallint not null,
  page_views bigint not null,
  last_at timestamp with time zone not null,
  constraint tag_day_pkey PRIMARY KEY (pub_id, day, host, consent)
);

create table totp (
  uid integer not null,
  secret text not null,
  is_confirmed boolean not null default false,
  last_step bigint not null default 0,
  datetime_created timestamp with time zone not null,
  datetime_updated timestamp with time zone not null,
  constraint totp_pkey PRIMARY KEY (uid),
  constraint totp_uid_fkey FOREIGN KEY (uid) REFERENCES app_user(uid)
);

create table traffic_hour (
  pub_id integer not null,
  hour_of_week smallint not null,
  clicks bigint not null,
  constraint traffic_hour_pkey PRIMARY KEY (pub_id, hour_of_week),
  constraint traffic_hour_hour_of_week_check CHECK (((hour_of_week >= 0) AND (hour_of_week <= 167)))
);

create table unattributed_redirect (
  day date not null,
  slug text not null,
  host text not null,
  target_host text not null,
  redirects bigint not null,
  constraint unattributed_redirect_pkey PRIMARY KEY (day, slug, host, target_host)
);

create table unfolded_event (
  lane smallint not null,
  seq bigint not null,
  event_id bigint not null,
  day date not null,
  error text not null,
  at timestamp with time zone not null default now(),
  constraint unfolded_event_pkey PRIMARY KEY (lane, seq)
);

create table upkeep (
  task text not null,
  done_until timestamp with time zone not null,
  constraint upkeep_pkey PRIMARY KEY (task)
);

create table view_day (
  day date not null,
  lane smallint not null,
  seq bigint not null,
  events bigint not null,
  key_id smallint not null,
  signature bytea not null,
  state text not null default 'written'::text,
  constraint view_day_pkey PRIMARY KEY (day, lane),
  constraint view_day_state_check CHECK ((state = ANY (ARRAY['written'::text, 'dropping'::text, 'dropped'::text])))
);

create table view_slot (
  pub_id integer not null,
  slot timestamp with time zone not null,
  impressions bigint not null,
  constraint view_slot_pkey PRIMARY KEY (pub_id, slot)
);

create table view_total (
  day date not null,
  lane smallint not null,
  type smallint not null,
  reason smallint not null,
  pub_id integer,
  url_key bytea,
  auction_id bigint,
  merch_id integer,
  events bigint not null,
  counted bigint not null,
  constraint view_total_day_lane_type_reason_pub_id_url_key_auction_id_m_key UNIQUE NULLS NOT DISTINCT (day, lane, type, reason, pub_id, url_key, auction_id, merch_id)
);

create table webhook (
  webhook_id integer generated always as identity,
  pub_id integer,
  merch_id integer,
  url text not null,
  secret text not null,
  events text[] not null,
  state text not null default 'active'::text,
  failures integer not null default 0,
  notice text,
  datetime_created timestamp with time zone not null default now(),
  datetime_updated timestamp with time zone not null default now(),
  constraint webhook_pkey PRIMARY KEY (webhook_id),
  constraint webhook_merch_id_fkey FOREIGN KEY (merch_id) REFERENCES merchant(merch_id),
  constraint webhook_pub_id_fkey FOREIGN KEY (pub_id) REFERENCES publisher(pub_id),
  constraint webhook_check CHECK (((pub_id IS NULL) <> (merch_id IS NULL))),
  constraint webhook_state_check CHECK ((state = ANY (ARRAY['active'::text, 'disabled'::text])))
);
CREATE INDEX webhook_merchant ON webhook USING btree (merch_id) WHERE (merch_id IS NOT NULL);
CREATE INDEX webhook_publisher ON webhook USING btree (pub_id) WHERE (pub_id IS NOT NULL);

create table webhook_delivery (
  delivery_id bigint not null default ((((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric))::bigint * 1000) + (nextval('webhook_delivery_delivery_id_seq'::regclass) % (1000)::bigint)),
  webhook_id integer not null,
  event text not null,
  notice_key text not null,
  payload jsonb not null,
  created_at timestamp with time zone not null,
  due_at timestamp with time zone,
  attempts integer not null default 0,
  delivered_at timestamp with time zone,
  status smallint,
  error text,
  constraint webhook_delivery_pkey PRIMARY KEY (delivery_id),
  constraint webhook_delivery_webhook_id_notice_key_key UNIQUE (webhook_id, notice_key),
  constraint webhook_delivery_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhook(webhook_id) ON DELETE CASCADE
);
CREATE INDEX webhook_delivery_created ON webhook_delivery USING btree (created_at);
CREATE INDEX webhook_delivery_due ON webhook_delivery USING btree (webhook_id, due_at, delivery_id) WHERE (due_at IS NOT NULL);

create table what_if_job (
  job_id uuid not null default gen_random_uuid(),
  uid integer not null,
  state text not null default 'waiting'::text,
  auctions integer not null default 0,
  auctions_done integer not null default 0,
  result jsonb,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint what_if_job_pkey PRIMARY KEY (job_id),
  constraint what_if_job_uid_fkey FOREIGN KEY (uid) REFERENCES app_user(uid),
  constraint what_if_job_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'running'::text, 'done'::text, 'failed'::text])))
);

create view current_offer as
 SELECT offer.offer_id,
    offer.from_generation,
    offer.to_generation,
    offer.merch_id,
    offer.sku,
    offer.product_id,
    offer.gtin14,
    offer.gtin_text,
    offer.title,
    offer.brand,
    offer.mpn,
    offer.url,
    offer.url_key,
    offer.image_url,
    offer.price_micros,
    offer.is_in_stock,
    offer.category_id,
    offer.content_hash,
    offer.regular_price_micros,
    offer.description,
    offer.color,
    offer.size,
    offer.item_group_id
   FROM (offer
     JOIN merchant USING (merch_id))
  WHERE ((offer.from_generation <= merchant.generation) AND ((offer.to_generation IS NULL) OR (offer.to_generation > merchant.generation)));
