-- Retries by policy: which failures of a job are tried again (retry_codes), how often (retry_max) and after which pause, how many
-- there were (retries), and when a job that pauses waits for its next attempt (retry_at).
ALTER TABLE jobs
    ADD COLUMN retry_max SMALLINT NOT NULL DEFAULT 0,
    ADD COLUMN retry_codes TEXT[],
    ADD COLUMN retry_pause_seconds INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN retries SMALLINT NOT NULL DEFAULT 0,
    ADD COLUMN retry_at TIMESTAMPTZ(3);
ALTER TABLE jobs DROP CONSTRAINT jobs_delivery_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_delivery_check
    CHECK (delivery IN ('waiting', 'dispatched', 'leased', 'paused', 'done')) NOT VALID;
ALTER TABLE jobs ADD CONSTRAINT jobs_retries_check
    CHECK (retries >= 0 AND retries <= retry_max AND (delivery <> 'paused' OR (retry_at IS NOT NULL AND retries > 0))) NOT VALID;

-- Of an attempt that was tried again: why it failed, and the engine time that is billed of it.
ALTER TABLE job_attempts ADD COLUMN error JSONB, ADD COLUMN billed_ms BIGINT;
ALTER TABLE job_attempts ADD CONSTRAINT job_attempts_billed_ms_check CHECK (billed_ms >= 0) NOT VALID;

-- How jobs are made whose submission does not say it.
ALTER TABLE accounts ADD COLUMN submission_defaults JSONB;

-- Outputs of an attempt that was billed before stay: they are paid for.
CREATE OR REPLACE FUNCTION withdraw_outputs(job uuid) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    withdrawn integer;
BEGIN
    UPDATE assets a SET expires_at = now() FROM job_outputs o
    WHERE o.job_id = job AND a.id = o.asset_id AND (a.expires_at IS NULL OR a.expires_at > now())
      AND NOT EXISTS (SELECT FROM job_attempts t WHERE t.job_id = job AND t.attempt = o.attempt AND t.billed_ms > 0);
    DELETE FROM job_outputs o
    WHERE o.job_id = job
      AND NOT EXISTS (SELECT FROM job_attempts t WHERE t.job_id = job AND t.attempt = o.attempt AND t.billed_ms > 0);
    GET DIAGNOSTICS withdrawn = ROW_COUNT;
    RETURN withdrawn;
END
$$;
