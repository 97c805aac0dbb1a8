-- A merchant reads its own account, entry by entry (reports/merchant-ledger-store.ts). Nothing asks
-- for a publisher's lines, so this index takes the place of that one and costs no more.
create index ledger_line_merchant on ledger_line (merch_id, day);
drop index ledger_line_day;
