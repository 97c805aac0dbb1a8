-- Each webhook's next deliveries are read in their order: what waits behind them, or for a webhook
-- that is switched off, is not looked at every minute.
drop index webhook_delivery_due;
create index webhook_delivery_due on webhook_delivery (webhook_id, due_at, delivery_id)
  where due_at is not null;
