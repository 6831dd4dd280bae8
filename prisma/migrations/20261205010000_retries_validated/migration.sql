-- Holds for the rows that were there before, without a lock that others wait for.
ALTER TABLE jobs VALIDATE CONSTRAINT jobs_delivery_check;
ALTER TABLE jobs VALIDATE CONSTRAINT jobs_retries_check;
ALTER TABLE job_attempts VALIDATE CONSTRAINT job_attempts_billed_ms_check;
