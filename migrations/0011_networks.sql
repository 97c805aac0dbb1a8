-- What publishers earned in other networks, imported to be shown beside the service's own figures
-- (out_of_network). It enters no budget, auction or ledger.

-- An import replaces a whole partition: what one account of a network reported for one day.
create table network_partition (
  network text not null,
  account text not null,
  report_date date not null,
  import_id bigint not null, -- whose rows count
  rows_hash bytea not null, -- the same rows again change nothing
  rows integer not null,
  event_id bigint not null,
  at timestamptz not null,
  primary key (network, account, report_date)
);

create table network_row (
  import_id bigint not null,
  row integer not null,
  pub_id integer not null references publisher,
  article_id integer not null, -- 0: the network does not say
  report_date date not null,
  advertiser text,
  clicks bigint not null,
  sales bigint not null,
  revenue_micros bigint not null,
  earnings_micros bigint not null,
  primary key (import_id, row)
);
create index network_row_publisher on network_row (pub_id, report_date);
