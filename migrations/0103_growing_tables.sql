-- What is looked up by time, or by the event behind it, in tables that grow with every click. Their
-- rows come in that order, so an index of block ranges finds them and costs the fold nothing.
create index click_at on click using brin (at) with (pages_per_range = 32, autosummarize = on);
create index ledger_transaction_event on ledger_transaction
  using brin (event_id) with (pages_per_range = 32, autosummarize = on);
-- What a report replaced is found for each report that changed.
create index network_partition_before on network_partition
  (network, account, report_date, partition_no);
