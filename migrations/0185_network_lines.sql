-- What names a line in another network's report, so that a later report replaces that line and no
-- other. Lines that were stored before have none of it.
alter table network_row add column transaction_id text;
alter table network_row add column original_id text;
alter table network_row add column order_id text;
alter table network_row add column item text;
alter table network_row add column posted text;
alter table network_row add column amounts text; -- of the sale and of the earnings, as reported
alter table network_row add column are_sales_reported boolean;
create index network_row_transaction on network_row (transaction_id)
where transaction_id is not null;
create index network_row_original on network_row (original_id) where original_id is not null;
create index network_row_order on network_row (order_id) where order_id is not null;
