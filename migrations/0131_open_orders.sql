-- Orders for which nothing is owed stay open as long as those that pay a share.
update merchant_order
set locks_at = greatest(locks_at, accepted_at + interval '90 days')
where locks_at is not null and told->'attribution'->'owner'->>'model' in ('0', '1');
