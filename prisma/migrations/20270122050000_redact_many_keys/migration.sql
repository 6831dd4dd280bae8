-- As before, but the ids among the texts are matched with the ids that stand in an entry, each of which is read once: of a label that thousands
-- of sub-keys share, looking for every id in every entry took longer than a statement may.
CREATE OR REPLACE FUNCTION redact_audit_log(account uuid, texts text[], after uuid, batch integer, OUT last uuid, OUT redacted integer)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    id_form CONSTANT text := '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
    ids CONSTANT text[] := ARRAY(SELECT given FROM unnest(texts) given WHERE given ~ ('^' || id_form || '$'));
    words CONSTANT text[] := ARRAY(SELECT given FROM unnest(texts) given WHERE given !~ ('^' || id_form || '$'));
BEGIN
    SELECT id INTO last FROM (
        SELECT id FROM public.audit_log WHERE account_id = account AND id > after ORDER BY id LIMIT batch
    ) page ORDER BY id DESC LIMIT 1;
    WITH page AS MATERIALIZED (
        SELECT id AS entry, concat_ws(E'\n', subject_id, details::text) AS said FROM public.audit_log
        WHERE account_id = account AND id > after AND id <= last AND action NOT LIKE 'erasure.%'
          AND (details <> '{}' OR address IS NOT NULL OR reason IS NOT NULL)
    ), named AS (
        SELECT entry FROM page
        WHERE texts IS NULL OR EXISTS (SELECT FROM unnest(words) word WHERE position(word IN said) > 0)
        UNION
        SELECT entry FROM page CROSS JOIN LATERAL regexp_matches(said, id_form, 'g') AS hit (parts)
        JOIN unnest(ids) AS known (key) ON known.key = hit.parts[1]
        WHERE cardinality(ids) > 0
    )
    UPDATE public.audit_log
    SET details = '{"erased": true}',
        address = CASE WHEN public.audit_address_stays(actor) THEN address END,
        reason = NULL,
        salt = NULL
    FROM named WHERE id = named.entry;
    GET DIAGNOSTICS redacted = ROW_COUNT;
END
$$;
