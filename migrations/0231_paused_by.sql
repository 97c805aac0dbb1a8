-- Who paused a campaign: what the operator stopped, its merchant cannot start again. Until now only
-- the operator's shell could pause.
alter table campaign add column paused_by text check (paused_by in ('merchant', 'operator'));
update campaign set paused_by = 'operator' where state = 'paused';
alter table campaign add check (state = 'paused' or paused_by is null);
