-- All that a job has made, whether it shows it or not.
CREATE INDEX CONCURRENTLY assets_job_idx ON assets (job_id) WHERE job_id IS NOT NULL;
