-- When a merchant's tag and server were last heard of.
create table merchant_signal (
  merch_id integer not null references merchant,
  kind text not null check (kind in ('tag_page', 'tag_checkout', 'server_order', 'server_return')),
  last_at timestamptz not null,
  primary key (merch_id, kind)
);
