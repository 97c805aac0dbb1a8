-- Orders that are held stay open until that is decided, also those that are held by now.
update merchant_order set told = told || '{"wait": {"endedAtMs": null}}', locks_at = null
where hold is not null and rejected_at is null and accepted_at is not null;
