-- Outputs of the attempts after `kept` are withdrawn: their assets expire now, also those that a later attempt has replaced, and the job shows none of
-- them. What an earlier attempt made and a later one made again stays. Called with the lock of the job held, and volatile, so that it sees
-- what was recorded while the caller waited for it. Assets are locked before outputs, as everywhere.
CREATE FUNCTION withdraw_outputs_after(of_job uuid, kept integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    withdrawn integer;
BEGIN
    UPDATE assets a SET expires_at = now() FROM (
        SELECT m.id FROM assets m
        WHERE m.job_id = of_job AND (m.expires_at IS NULL OR m.expires_at > now())
          AND coalesce(m.attempt, (SELECT o.attempt FROM job_outputs o WHERE o.asset_id = m.id), 0) > kept
        ORDER BY m.id FOR NO KEY UPDATE
    ) locked WHERE a.id = locked.id;
    DELETE FROM job_outputs o USING assets a
    WHERE o.job_id = of_job AND a.id = o.asset_id AND coalesce(a.attempt, o.attempt) > kept;
    GET DIAGNOSTICS withdrawn = ROW_COUNT;
    RETURN withdrawn;
END
$function$;

-- What is billed with an attempt that was tried again is for the attempts before it as well: engine time that they lost is in it. So all of their outputs
-- stay, and not those of that attempt alone.
CREATE OR REPLACE FUNCTION withdraw_outputs(job uuid)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    last_billed CONSTANT smallint := coalesce((SELECT max(t.attempt) FROM job_attempts t WHERE t.job_id = job AND t.billed_ms > 0), 0);
BEGIN
    RETURN withdraw_outputs_after(job, last_billed);
END
$function$;
