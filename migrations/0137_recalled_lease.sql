-- Whether a lease holds what another node needs: its own hears of it with its next answer.
alter table lease add column is_recalled boolean not null default false;
create index lease_recalled on lease (node_id) where is_recalled and closed_at is null;
