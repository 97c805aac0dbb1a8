-- What the log tells is recorded under the number that it names, also where a restored database has
-- lost whose it is. Payments and other networks' rows asked for the merchant and the publisher: they
-- were set aside for ever, and after a hundred of them the money lane stood still.
alter table merchant_payment drop constraint merchant_payment_merch_id_fkey;
alter table network_row drop constraint network_row_pub_id_fkey;
