-- Names the work that a graph asks for, of one account in one pool: run times of earlier jobs with the same key estimate those of
-- the next. Null for jobs of before.
ALTER TABLE job_graphs ADD COLUMN work_key bigint;
