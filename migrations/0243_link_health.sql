-- Whether links earn, and if not, since when and what is lost by it.

-- An edge must also forget a link's earlier URL.
drop trigger smart_link_changed on smart_link;
create trigger smart_link_changed after update on smart_link
for each row when ((old.state, old.is_keyless, old.url, old.is_exclusive)
  is distinct from (new.state, new.is_keyless, new.url, new.is_exclusive))
execute function notify_config();

-- Who disabled a link: a publisher cannot enable what the operator disabled.
alter table smart_link add column disabled_by text check (disabled_by in ('publisher', 'operator'));
update smart_link set disabled_by = 'operator' where state = 'disabled';

-- The state at the last hourly look, of links that were clicked lately or are new.
create table link_health (
  auction_id bigint primary key references smart_link on delete cascade,
  pub_id integer not null,
  article_id integer not null,
  health text not null
    check (health in ('earning', 'no_bid', 'out_of_stock', 'dead', 'disabled', 'new')),
  since timestamptz not null, -- since it has this state
  risk_micros bigint not null, -- what it earned a day before it stopped; 0 while it earns
  checked_at timestamptz not null
);
create index link_health_publisher on link_health (pub_id, risk_micros desc);

-- Whether the page of an earning link is there.
create table link_check (
  url_hash bytea primary key, -- as in smart_link
  url text not null,
  failed_at timestamptz, -- the first of two failures, an hour apart
  dead_since timestamptz,
  detail text, -- of the last failure, or why it is not checked
  due_at timestamptz not null,
  checked_at timestamptz
);
create index link_check_due on link_check (due_at);
