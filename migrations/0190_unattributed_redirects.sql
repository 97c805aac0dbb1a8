-- Wrapper redirects that name no known publisher, by UTC day
-- (docs/spec/links-and-tags.md#unattributed-wrapper-redirects).
create table unattributed_redirect (
  day date not null,
  slug text not null, -- as the link names its publisher; empty: it names none
  host text not null, -- of the page with the link; empty: the browser does not say
  target_host text not null,
  redirects bigint not null,
  primary key (day, slug, host, target_host)
);
