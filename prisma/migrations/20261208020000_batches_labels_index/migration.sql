-- Batches of a sub-key, among all those of its account.
CREATE INDEX CONCURRENTLY batches_labels_idx ON batches USING gin (labels jsonb_path_ops) WHERE labels IS NOT NULL;
