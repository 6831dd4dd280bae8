-- The uploads of an account, as it lists them: newest first.
CREATE INDEX CONCURRENTLY assets_uploads_idx ON assets (account_id, created_at, id) WHERE job_id IS NULL;
