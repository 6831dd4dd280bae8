-- An output is found by the id of its node and by its name, and an entry of an index holds at most 2,704 bytes. Rows of
-- before are not read for it.
ALTER TABLE job_outputs ADD CONSTRAINT job_outputs_index_width_check
    CHECK (octet_length(node_id) <= 1024 AND octet_length(name) <= 1024) NOT VALID;

-- The outputs of a job that is not charged are not delivered: their assets expire now and the job shows none. Called by the
-- statement that ends the job, once it holds the lock of the job.
--
-- Volatile, so that it sees an output that was recorded while the statement waited for that lock. Assets are locked before
-- outputs, as everywhere.
CREATE FUNCTION withdraw_outputs(job uuid) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    withdrawn integer;
BEGIN
    UPDATE assets a SET expires_at = now() FROM job_outputs o
    WHERE o.job_id = job AND a.id = o.asset_id AND (a.expires_at IS NULL OR a.expires_at > now());
    DELETE FROM job_outputs WHERE job_id = job;
    GET DIAGNOSTICS withdrawn = ROW_COUNT;
    RETURN withdrawn;
END
$$;
