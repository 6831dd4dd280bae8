-- Which accounts wait for an import, and the one of each that is due the longest.
CREATE INDEX CONCURRENTLY models_import_idx ON models (account_id, import_due_at, id) WHERE state = 'importing';
