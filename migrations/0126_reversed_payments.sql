-- A payment that the bank took back, or that was typed by mistake. What it released stays released;
-- its amount is owed again from then on (ledger/debt-store.ts).
alter table merchant_payment
  add column reversal_event_id bigint,
  add column reversed_at timestamptz,
  add column reverse_reason text;
