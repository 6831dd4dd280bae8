-- The latest jobs that asked for exactly the same.
CREATE INDEX CONCURRENTLY job_graphs_reuse_key_idx ON job_graphs (reuse_key, job_id) WHERE reuse_key IS NOT NULL;
