-- Whether an account has a job waiting in a pool. An index that asks for `waiting > 0` holds the counter itself, so that each submission
-- writes the indexes; this changes only with the first and the last job that waits, and an update in between is heap-only.
ALTER TABLE account_queues ADD COLUMN busy boolean NOT NULL GENERATED ALWAYS AS (waiting > 0) STORED;
DROP INDEX account_queues_busy_idx;
CREATE INDEX account_queues_busy_idx ON account_queues (pool_id) WHERE busy;
