-- A rate that its source corrects is a row of its own: orders name the one they were converted by.
alter table exchange_rate drop constraint exchange_rate_source_day_currency_key;
