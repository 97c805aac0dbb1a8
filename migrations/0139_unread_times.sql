-- Times that were written and that nothing reads: when an import began (that one did is what
-- counts), when a key first came from a network, and when a delivery of reports was set up.
alter table feed_import drop column started_at;
alter table api_key_place drop column first_used_at;
alter table report_delivery drop column datetime_created;
