-- Product search by words. A job fills these tables after imports, which stay fast that way.

create table offer_words (
  offer_id bigint primary key,
  merch_id integer not null references merchant,
  words tsvector not null
);
create index offer_words_words on offer_words using gin (words);
create index offer_words_merchant on offer_words (merch_id);

-- The generation of a merchant's offers whose words are stored.
create table offer_words_state (
  merch_id integer primary key references merchant,
  generation integer not null
);

-- Every word of a product, to find the nearest word to a misspelt one.
create table product_word (
  word text primary key
);

do $do$
begin
  create extension if not exists pg_trgm;
  create index product_word_similar on product_word using gin (word gin_trgm_ops);
exception
  -- The server lacks the extension, or the role may not create it: searches then find only words
  -- that are spelt right.
  when undefined_file or insufficient_privilege or feature_not_supported then null;
end $do$;
