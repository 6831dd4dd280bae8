-- An entry of the audit log may be deleted once it is 90 days old, by anyone; before that, and changed, never.
CREATE OR REPLACE TRIGGER audit_log_append_trigger BEFORE UPDATE ON audit_log FOR EACH ROW
    EXECUTE FUNCTION refuse_change('the audit log is only appended to');
CREATE TRIGGER audit_log_keep_trigger BEFORE DELETE ON audit_log FOR EACH ROW
    WHEN (OLD.at > now() - interval '90 days')
    EXECUTE FUNCTION refuse_change('the audit log keeps its entries for 90 days at least');

-- Deletes entries older than this, of the `batch` oldest, and returns how many. It runs with the rights of the owner: no process
-- may delete from the log itself. Ids are in the order of time, so the log needs no index by time.
CREATE FUNCTION sweep_audit_log(kept_seconds bigint, batch integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    gone bigint;
BEGIN
    DELETE FROM public.audit_log
    WHERE id IN (SELECT id FROM public.audit_log ORDER BY id LIMIT batch)
      AND at < now() - make_interval(secs => kept_seconds);
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END
$$;
REVOKE ALL ON FUNCTION sweep_audit_log(bigint, integer) FROM PUBLIC;
