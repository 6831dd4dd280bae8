-- Holds for the rows that were there before, without a lock that others wait for.
ALTER TABLE jobs VALIDATE CONSTRAINT jobs_attempt_check;
ALTER TABLE jobs VALIDATE CONSTRAINT jobs_reuse_check;
ALTER TABLE job_transitions VALIDATE CONSTRAINT job_transitions_table_check;
