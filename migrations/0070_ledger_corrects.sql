-- What corrects an entry is found by it: an order shows all the entries that it caused. Few entries
-- correct another, so this costs clicks nothing.
create index ledger_transaction_corrects on ledger_transaction (corrects)
  where corrects is not null;
