-- Engine time of the longest attempt of the job that its engine lost, in milliseconds.
ALTER TABLE jobs ADD COLUMN lost_engine_ms bigint NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD CONSTRAINT jobs_lost_engine_ms_check CHECK (lost_engine_ms >= 0) NOT VALID;
