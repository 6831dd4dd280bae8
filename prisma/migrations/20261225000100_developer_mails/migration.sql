-- How many notices an account's developers got by mail on a day (UTC), so that an endpoint that is enabled and fails again and again does
-- not fill their mailboxes.
ALTER TABLE accounts
    ADD COLUMN developer_mails_on date,
    ADD COLUMN developer_mails integer NOT NULL DEFAULT 0;
