-- The same for those of one account: it keeps so many at most.
CREATE INDEX CONCURRENTLY models_failed_of_account_idx ON models (account_id, coalesce(failed_at, created_at)) WHERE state = 'failed';
