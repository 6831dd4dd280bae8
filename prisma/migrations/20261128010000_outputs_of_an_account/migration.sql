-- The same of what its jobs made. An index of their own, so that a few uploads are found among very many outputs, and each asset is
-- in one of them.
CREATE INDEX CONCURRENTLY assets_outputs_idx ON assets (account_id, created_at, id) WHERE job_id IS NOT NULL;
