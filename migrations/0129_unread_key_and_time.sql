-- Nothing looks a link up by its number, nor asks when a rate came in: an index that each new link
-- filled, and a column. Numbers stay distinct: only the identity gives them.
alter table smart_link drop constraint smart_link_smart_link_id_key;
alter table exchange_rate drop column imported_at;
