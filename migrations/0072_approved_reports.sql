-- A person's approval lets pass what was told until then, and no longer what is told later. Orders
-- that were approved before keep what they count.
update merchant_order
set told = replace(told::text, '"hold": "review"', '"hold": null')::jsonb - 'isApproved'
where (told->>'isApproved')::boolean;
