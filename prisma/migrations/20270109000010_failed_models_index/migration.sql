-- Models that failed, in the order in which they are deleted.
CREATE INDEX CONCURRENTLY models_failed_idx ON models (coalesce(failed_at, created_at)) WHERE state = 'failed';
