-- Whether a click wrapper is looked into says where its link leads, as the lock does: who wants it
-- otherwise than who asked first gets a link of its own.
drop index smart_link_found;
create unique index smart_link_found on smart_link (article_id, url_hash, is_exclusive, unwraps)
where source <> 'api';
