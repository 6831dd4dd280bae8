-- Whether an account has a job in a pool: what the foreign key to account_queues asks when a row of that is deleted. The other
-- indexes by account have conditions, so that it read all of jobs.
CREATE INDEX CONCURRENTLY jobs_queue_idx ON jobs (account_id, pool_id);
