-- A job that was answered with the outputs of an earlier one: which one ran (reused_from). No foreign key: it may expire first. It was
-- never claimed, so that it has succeeded with no attempt; no other job may.
ALTER TABLE jobs ADD COLUMN reused_from UUID;
-- Nodes of the last attempt that its engine had in its cache; null until it has ended.
ALTER TABLE jobs ADD COLUMN cached_nodes INTEGER;
ALTER TABLE jobs DROP CONSTRAINT jobs_attempt_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_attempt_check CHECK (
    attempt >= 0 AND attempt <= max_attempts AND (attempt = 0) = (started_at IS NULL)
    AND (status <> 'queued' OR attempt = 0)
    AND (status NOT IN ('running', 'canceling', 'succeeded', 'failed') OR attempt > 0
         OR (status = 'succeeded' AND reused_from IS NOT NULL))) NOT VALID;
ALTER TABLE jobs ADD CONSTRAINT jobs_reuse_check CHECK (
    reused_from IS NULL OR (status = 'succeeded' AND attempt = 0 AND held_micros = 0 AND billable_ms = 0)) NOT VALID;
ALTER TABLE job_transitions DROP CONSTRAINT job_transitions_table_check;
ALTER TABLE job_transitions ADD CONSTRAINT job_transitions_table_check CHECK (
    (coalesce(from_status, '') || '>' || to_status) IN (
        '>queued', 'queued>running', 'queued>canceled', 'queued>expired', 'queued>succeeded', 'running>succeeded', 'running>failed',
        'running>expired', 'running>canceling', 'canceling>canceled')) NOT VALID;

-- Names exactly what a graph asks for (SHA-256), where its submission asked for reuse and all its nodes are deterministic.
ALTER TABLE job_graphs ADD COLUMN reuse_key BYTEA;
