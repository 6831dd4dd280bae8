-- The rules of the history of jobs in one function, as those of jobs (20270102000000_job_rules).
-- In a migration of its own: one that has altered a table and waits for another can deadlock with the statements of jobs, which lock both.
CREATE FUNCTION keeps_rules(line job_transitions) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    broken CONSTANT text := CASE
        WHEN NOT ((line.seq = 1) = (line.from_status IS NULL))
            THEN 'job_transitions_seq_check'
        WHEN NOT (coalesce(line.from_status, '') || '>' || line.to_status IN (
                '>queued', 'queued>running', 'queued>canceled', 'queued>expired', 'queued>succeeded', 'running>succeeded',
                'running>failed', 'running>expired', 'running>canceling', 'canceling>canceled'))
            THEN 'job_transitions_table_check'
    END;
BEGIN
    IF broken IS NOT NULL THEN
        PERFORM refuse_row('job_transitions', broken);
    END IF;
    RETURN true;
END
$$;

ALTER TABLE job_transitions ADD CONSTRAINT job_transitions_rules_check CHECK (keeps_rules(job_transitions)) NOT VALID;
ALTER TABLE job_transitions
    DROP CONSTRAINT job_transitions_seq_check,
    DROP CONSTRAINT job_transitions_table_check;
