-- What a node was told that all nodes must be told alike. Where they differ each looks well by
-- itself, and clicks are not paid or events reach no figure.
alter table node add column settings jsonb not null default '{}';
