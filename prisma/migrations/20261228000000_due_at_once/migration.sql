-- What is due at once is due for the next statement: rounded to the nearest millisecond, it could lie up to half of one in the future.
ALTER TABLE webhook_messages ALTER COLUMN due_at SET DEFAULT date_trunc('milliseconds', now());
ALTER TABLE export_deliveries ALTER COLUMN due_at SET DEFAULT date_trunc('milliseconds', now());
ALTER TABLE erasures ALTER COLUMN due_at SET DEFAULT date_trunc('milliseconds', now());
ALTER TABLE mail_messages ALTER COLUMN due_at SET DEFAULT date_trunc('milliseconds', now());
