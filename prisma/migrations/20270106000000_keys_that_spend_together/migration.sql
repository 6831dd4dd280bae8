-- Caps of keys are of what a key is to its account, not of one secret: a key that replaced another counts as that one, and what it submits
-- counts for the key that made it, too.

-- The keys by whose caps jobs of this one count. First the one as which it counts: the first of those that replaced each other, down to
-- it. Then those for whom it counts beside that: of the key that made it, all of these. Null: itself alone.
ALTER TABLE api_keys ADD COLUMN spend_keys uuid[];
ALTER TABLE api_keys ADD CONSTRAINT api_keys_spend_keys_check CHECK (cardinality(spend_keys) > 0);

-- Whoever rotates a key, its successor has no new allowance.
CREATE FUNCTION inherit_spend_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE api_keys SET spend_keys = coalesce(NEW.spend_keys, ARRAY[NEW.id]) WHERE id = NEW.rotated_to;
    RETURN NULL;
END
$$;
CREATE TRIGGER api_keys_rotation_trigger AFTER UPDATE OF rotated_to ON api_keys FOR EACH ROW
    WHEN (NEW.rotated_to IS DISTINCT FROM OLD.rotated_to) EXECUTE FUNCTION inherit_spend_keys();

-- The keys by whose caps the jobs of a key count; null without a key. Who counts jobs has no right to read keys.
CREATE FUNCTION spend_keys_of(api_key uuid) RETURNS uuid[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RETURN CASE WHEN api_key IS NOT NULL
        THEN coalesce((SELECT k.spend_keys FROM api_keys k WHERE k.id = api_key), ARRAY[api_key]) END;
END
$$;

-- The key that a key was replaced by, and that one again, down to the one that was not: by that name people know it.
CREATE FUNCTION latest_key(api_key uuid) RETURNS uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    latest uuid := api_key;
    successor uuid;
BEGIN
    LOOP
        SELECT k.rotated_to INTO successor FROM api_keys k WHERE k.id = latest;
        EXIT WHEN successor IS NULL;
        latest := successor;
    END LOOP;
    RETURN latest;
END
$$;

-- What a job is counted by is a list of names. '@key' is the key that submitted it, '@key=<id>' another for which that counts: both are
-- counted by the label '@key', with the id as its value.
CREATE FUNCTION limited_label(counted text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN starts_with(counted, '@key=') THEN '@key' ELSE counted END
$$;
CREATE OR REPLACE FUNCTION limited_value(label text, metadata jsonb, api_key uuid) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN label = '@account' THEN '' WHEN label = '@key' THEN api_key::text WHEN starts_with(label, '@key=') THEN substr(label, 6)
        ELSE metadata ->> label END
$$;

CREATE OR REPLACE FUNCTION lock_label_rooms(account uuid, labels text[], metadata jsonb, api_key uuid)
RETURNS TABLE (
    label text, value text, daily_at_cap text, monthly_at_cap text, day_room bigint, month_room bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    today CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
    RETURN QUERY
        SELECT u.label, u.value, r.daily_at_cap, r.monthly_at_cap,
            r.daily_micros - CASE WHEN u.day = today THEN u.day_micros ELSE 0 END - u.held_micros,
            r.monthly_micros - CASE WHEN date_trunc('month', u.day) = date_trunc('month', today) THEN u.month_micros ELSE 0 END - u.held_micros
        FROM unnest(labels) AS counted (name)
        JOIN label_use u ON u.account_id = account AND u.label = limited_label(counted.name)
            AND u.value = limited_value(counted.name, metadata, api_key)
        LEFT JOIN LATERAL (
            SELECT r.daily_micros, r.monthly_micros, r.daily_at_cap, r.monthly_at_cap FROM label_rules r
            WHERE r.account_id = u.account_id AND r.label = u.label AND (r.value = u.value OR r.value IS NULL)
            ORDER BY r.value NULLS LAST LIMIT 1
        ) r ON true
        ORDER BY u.label, u.value FOR UPDATE OF u;
END
$$;

CREATE OR REPLACE FUNCTION leave_labels(account uuid, labels text[], metadata jsonb, api_key uuid, held bigint, charged bigint)
RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    today CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
    changed integer;
BEGIN
    PERFORM FROM unnest(labels) AS counted (name)
    JOIN label_use u ON u.account_id = account AND u.label = limited_label(counted.name)
        AND u.value = limited_value(counted.name, metadata, api_key)
    ORDER BY u.label, u.value FOR UPDATE OF u;
    UPDATE label_use u SET live = greatest(u.live - 1, 0), held_micros = greatest(u.held_micros - held, 0), day = today,
        day_micros = CASE WHEN u.day = today THEN u.day_micros ELSE 0 END + charged,
        month_micros = CASE WHEN date_trunc('month', u.day) = date_trunc('month', today) THEN u.month_micros ELSE 0 END + charged
    FROM unnest(labels) AS counted (name)
    WHERE u.account_id = account AND u.label = limited_label(counted.name) AND u.value = limited_value(counted.name, metadata, api_key);
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END
$$;

-- It names a key as it is now, which has not that id any more once it was rotated.
CREATE OR REPLACE FUNCTION record_spend_warnings() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    day_before smallint := 0;
    month_before smallint := 0;
    rule record;
    warning record;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF OLD.warned_on = NEW.warned_on THEN day_before := OLD.day_warned; END IF;
        IF date_trunc('month', OLD.warned_on) = date_trunc('month', NEW.warned_on) THEN month_before := OLD.month_warned; END IF;
    END IF;
    IF NEW.day_warned <= day_before AND NEW.month_warned <= month_before THEN
        RETURN NULL;
    END IF;
    SELECT r.daily_micros, r.monthly_micros, r.daily_at_cap, r.monthly_at_cap INTO rule FROM label_rules r
    WHERE r.account_id = NEW.account_id AND r.label = NEW.label AND (r.value = NEW.value OR r.value IS NULL)
    ORDER BY r.value NULLS LAST LIMIT 1;
    FOR warning IN
        SELECT * FROM (VALUES
            ('day', day_before, NEW.day_warned, rule.daily_micros, rule.daily_at_cap,
                CASE WHEN NEW.day = NEW.warned_on THEN NEW.day_micros ELSE 0 END),
            ('month', month_before, NEW.month_warned, rule.monthly_micros, rule.monthly_at_cap,
                CASE WHEN date_trunc('month', NEW.day) = date_trunc('month', NEW.warned_on) THEN NEW.month_micros ELSE 0 END)
        ) AS w (span, before, percent, cap, at_cap, charged) WHERE w.percent > w.before
    LOOP
        PERFORM record_webhook_event(NEW.account_id, 'spend.warning', jsonb_build_object(
            'scope', CASE NEW.label WHEN '@account' THEN 'account' WHEN '@key' THEN 'key' ELSE 'label' END,
            'key_id', CASE WHEN NEW.label = '@key' THEN latest_key(NEW.value::uuid) END,
            'label', CASE WHEN NOT starts_with(NEW.label, '@') THEN NEW.label END,
            'value', CASE WHEN NOT starts_with(NEW.label, '@') THEN NEW.value END,
            'span', warning.span, 'percent', warning.percent, 'cap_micros', warning.cap, 'at_cap', warning.at_cap,
            'held_micros', NEW.held_micros, 'charged_micros', warning.charged));
    END LOOP;
    RETURN NULL;
END
$$;
