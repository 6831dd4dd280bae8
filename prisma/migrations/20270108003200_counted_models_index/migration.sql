-- How many models an account has: those that failed do not count, and are not read for it.
CREATE INDEX CONCURRENTLY models_counted_idx ON models (account_id) WHERE state <> 'failed';
