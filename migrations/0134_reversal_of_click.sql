-- Which reversal took a click back: of two at once the other one is told that it came too late.
-- Unknown (null) of clicks that were reversed before this column was there.
alter table click add column reversal_event_id bigint;
