-- How long orders take is read from the orders: of a mean one cannot tell how long their clicks
-- could have been waited for, and while a network is young that is what the mean shows.
alter table pair_evidence drop column delay_ms;
