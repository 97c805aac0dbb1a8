-- When a delivery of reports was last begun, whatever came of it: one that fails after an hour, or
-- takes longer than a run may, is else the first of every run, and others' turn never comes.
alter table report_delivery add column tried_at timestamptz;
update report_delivery set tried_at = delivered_at;
