-- Uploads of a sub-key, among all those of its account.
CREATE INDEX CONCURRENTLY assets_labels_idx ON assets USING gin (labels jsonb_path_ops) WHERE labels IS NOT NULL;
