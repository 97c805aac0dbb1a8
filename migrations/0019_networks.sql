-- Earnings of publishers in other networks, imported to be shown beside the service's own figures.
-- They enter no budget, auction or ledger.

-- An import replaces a whole partition: the report of one account of a network for one day. Earlier
-- imports stay stored, for as_of.
create table network_partition (
  network text not null,
  account text not null,
  report_date date not null,
  import_id bigint primary key,
  rows_hash bytea not null, -- the same rows again change nothing
  rows integer not null,
  event_id bigint not null,
  at timestamptz not null,
  until timestamptz, -- the next import replaced it then; null: it is the shown import
  partition_no bigint generated always as identity -- the order in which imports became shown
);
create unique index network_partition_shown on network_partition (network, account, report_date)
  where until is null;
create unique index network_partition_no on network_partition (partition_no);
-- Finds the import that an import replaced, for each changed report.
create index network_partition_before on network_partition
  (network, account, report_date, partition_no);

create table network_row (
  import_id bigint not null,
  row integer not null,
  pub_id integer not null, -- recorded as the log names it, also if a restored database lost it
  article_id integer not null, -- 0: the network does not name one
  report_date date not null,
  advertiser text,
  clicks bigint not null,
  sales bigint not null,
  revenue_micros bigint not null,
  earnings_micros bigint not null,
  -- The identity of the report's line, so that a later report replaces this line and no other.
  -- null: the report does not state it.
  transaction_id text,
  original_id text,
  order_id text,
  item text,
  posted text,
  amounts text, -- of the sale and of the earnings, as reported
  are_sales_reported boolean,
  primary key (import_id, row)
);
create index network_row_publisher on network_row (pub_id, report_date);
create index network_row_transaction on network_row (transaction_id)
  where transaction_id is not null;
create index network_row_original on network_row (original_id) where original_id is not null;
create index network_row_order on network_row (order_id) where order_id is not null;
