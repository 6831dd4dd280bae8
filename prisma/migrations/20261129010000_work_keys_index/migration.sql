-- The latest jobs with a work key.
CREATE INDEX CONCURRENTLY job_graphs_work_key_job_id_idx ON job_graphs (work_key, job_id);
