-- Whether an object in what an entry says names the label with the value: as {"label": …, "value": …}, or among its "labels". JSON that a text
-- holds is read as well. The label may be NULL: of any label.
CREATE FUNCTION audit_names_label(said jsonb, label text, value text) RETURNS boolean
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted CONSTANT jsonb := jsonb_build_object('label', label, 'value', value);
    held text;
BEGIN
    IF jsonb_path_exists(said, 'strict $.** ? (
        (@.value == $value && (@.label == $label || $label == null && exists(@.label)))
        || exists(@.labels.keyvalue() ? (@.value == $value && (@.key == $label || $label == null))))', wanted) THEN
        RETURN true;
    END IF;
    FOR held IN SELECT jsonb_path_query(said, 'strict $.** ? (@ starts with "{")') #>> '{}' LOOP
        BEGIN
            IF public.audit_names_label(held::jsonb, label, value) THEN
                RETURN true;
            END IF;
        EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
            -- A text of a customer's that is no JSON: the service writes labels into none such.
        END;
    END LOOP;
    RETURN false;
END
$$;

-- As before, but a value is matched as that of its label: before, a value such as "email" struck out every entry that has a field of this name.
-- Among the texts are ids, and the label with the value as a JSON object. Processes of the version before give the value alone, as a JSON
-- text, and once more as that stands in a JSON text, which is left aside: theirs is a value of any label.
CREATE OR REPLACE FUNCTION redact_audit_log(account uuid, texts text[], after uuid, batch integer, OUT last uuid, OUT redacted integer)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    id_form CONSTANT text := '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
    ids CONSTANT text[] := ARRAY(SELECT given FROM unnest(texts) given WHERE given ~ ('^' || id_form || '$'));
    pairs CONSTANT jsonb[] := ARRAY(
        SELECT CASE WHEN starts_with(given, '{') THEN given::jsonb ELSE jsonb_build_object('value', given::jsonb) END
        FROM unnest(texts) given WHERE starts_with(given, '{') OR starts_with(given, '"'));
BEGIN
    SELECT id INTO last FROM (
        SELECT id FROM public.audit_log WHERE account_id = account AND id > after ORDER BY id LIMIT batch
    ) page ORDER BY id DESC LIMIT 1;
    WITH page AS MATERIALIZED (
        SELECT id AS entry, concat_ws(E'\n', subject_id, details::text) AS said, details AS facts FROM public.audit_log
        WHERE account_id = account AND id > after AND id <= last AND action NOT LIKE 'erasure.%'
          AND (details <> '{}' OR address IS NOT NULL OR reason IS NOT NULL)
    ), named AS (
        SELECT entry FROM page
        WHERE texts IS NULL
           OR EXISTS (SELECT FROM unnest(pairs) pair WHERE public.audit_names_label(facts, pair ->> 'label', pair ->> 'value'))
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
