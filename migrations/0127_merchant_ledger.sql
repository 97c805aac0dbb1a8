-- A merchant reads its own account, entry by entry (reports/merchant-ledger-store.ts).
create index ledger_line_merchant on ledger_line (merch_id, day, transaction_id, line)
  where account = 'merchant';
