-- Batches whose end is still to be recorded.
CREATE INDEX CONCURRENTLY batches_active_idx ON batches (id) WHERE completed_at IS NULL;
