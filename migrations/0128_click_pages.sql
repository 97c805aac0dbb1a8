-- Pages of a publisher's clicks go by day and event (reports/clicks-store.ts): without the event in
-- the index, each page read and sorted all clicks of its day.
create index click_publisher_event on click (pub_id, day, event_id);
drop index click_publisher_day;
