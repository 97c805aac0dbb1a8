-- A link is its article, address and lock, whoever made it: all are found by these, not only those
-- that were not made with a key. The narrower index is the new one's beginning.
create index smart_link_identity on smart_link (article_id, url_hash, is_exclusive);
drop index smart_link_article;
