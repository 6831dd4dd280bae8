-- Whether any job of a batch has not ended.
CREATE INDEX CONCURRENTLY jobs_batch_live_idx ON jobs (batch_id) WHERE batch_id IS NOT NULL AND delivery <> 'done';
