-- Whether wrappers are looked into says nothing of an address that holds no other one: all calls
-- share one link of it since 0145. What calls made before that wanted none looked into becomes that
-- link. It would else be made anew, and where it is disabled an active one would stand beside it.
-- What a wrapper leads to has a colon, plain or encoded, or is a host without one in the query.
update smart_link as made set unwraps = true
where not unwraps and source <> 'api' and url !~* ':.*(:|%3a)|\?.*[.%]'
  and not exists (
    select from smart_link as since
    where since.article_id = made.article_id and since.url_hash = made.url_hash
      and since.is_exclusive = made.is_exclusive and since.unwraps and since.source <> 'api'
  );
