-- What is let go after its time is found by that time, not by reading all that is kept.
create index refused_intake_at on refused_intake (at);
create index webhook_delivery_created on webhook_delivery (created_at);
