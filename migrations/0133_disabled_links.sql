-- Edges hold the ids of all disabled links with their market: few of very many.
create index smart_link_disabled on smart_link (auction_id) where state = 'disabled';
