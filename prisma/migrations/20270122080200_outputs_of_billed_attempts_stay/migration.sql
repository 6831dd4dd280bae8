-- What is billed with an attempt that was tried again is for the attempts before it as well: engine time that they lost is in it. So all of their outputs
-- stay, and not those of that attempt alone.
CREATE OR REPLACE FUNCTION withdraw_outputs(job uuid)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    last_billed CONSTANT smallint := coalesce((SELECT max(t.attempt) FROM job_attempts t WHERE t.job_id = job AND t.billed_ms > 0), 0);
    withdrawn integer;
BEGIN
    UPDATE assets a SET expires_at = now() FROM job_outputs o
    WHERE o.job_id = job AND a.id = o.asset_id AND (a.expires_at IS NULL OR a.expires_at > now()) AND o.attempt > last_billed;
    DELETE FROM job_outputs o WHERE o.job_id = job AND o.attempt > last_billed;
    GET DIAGNOSTICS withdrawn = ROW_COUNT;
    RETURN withdrawn;
END
$function$;
