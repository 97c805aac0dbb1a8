-- The receipts of one link, newest first, for its publisher. Without it a link's page would read
-- all receipts of its publisher's last days.

create index receipt_link on receipt (auction_id, at desc, result_number desc);
