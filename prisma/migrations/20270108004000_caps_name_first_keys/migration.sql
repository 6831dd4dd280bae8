-- A cap of a key names the first of its line, as which all of them count (`spend_keys_of`). A process of before `keys_that_spend_together` names the key
-- itself and counts what that alone was charged: so the name is changed where the cap is written, and what the line was charged is taken from the
-- records of usage, as where a cap is set. The row is locked first: a job that ends meanwhile is in the sum, or adds to it afterwards.
CREATE FUNCTION name_first_key() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    first_key CONSTANT text := (spend_keys_of(NEW.value::uuid))[1]::text;
BEGIN
    IF NEW.value = first_key THEN
        RETURN NEW;
    END IF;
    NEW.value := first_key;
    PERFORM FROM label_use u WHERE u.account_id = NEW.account_id AND u.label = NEW.label AND u.value = first_key FOR UPDATE;
    INSERT INTO label_use AS u (account_id, label, value, day, day_micros, month_micros)
    SELECT NEW.account_id, NEW.label, first_key, (now() AT TIME ZONE 'UTC')::date, coalesce(sum(g.day_micros), 0), coalesce(sum(g.month_micros), 0)
    FROM (
        SELECT r.api_key_id, sum(r.charged_micros) AS month_micros,
            sum(r.charged_micros) FILTER (WHERE r.finished_at >= date_trunc('day', now(), 'UTC')) AS day_micros
        FROM usage_records r
        WHERE r.account_id = NEW.account_id AND r.finished_at >= date_trunc('month', now(), 'UTC') GROUP BY r.api_key_id
    ) g WHERE first_key::uuid = ANY (spend_keys_of(g.api_key_id))
    ON CONFLICT (account_id, label, value) DO UPDATE SET day = excluded.day, day_micros = excluded.day_micros, month_micros = excluded.month_micros;
    RETURN NEW;
END
$$;
CREATE TRIGGER label_rules_first_key_trigger BEFORE INSERT OR UPDATE OF value ON label_rules FOR EACH ROW
    WHEN (NEW.label = '@key' AND NEW.value IS NOT NULL) EXECUTE FUNCTION name_first_key();

-- Caps that such processes set since `caps_of_rotated_keys`. Of several of one line, the one counts that was set last.
DELETE FROM label_rules r USING (
    SELECT named.id, row_number() OVER (PARTITION BY named.account_id, (spend_keys_of(named.value::uuid))[1]
        ORDER BY named.updated_at DESC, named.id DESC) AS place
    FROM label_rules named WHERE named.label = '@key' AND named.value IS NOT NULL
) older WHERE r.id = older.id AND older.place > 1;
UPDATE label_rules r SET value = r.value, updated_at = now()
WHERE r.label = '@key' AND r.value <> (spend_keys_of(r.value::uuid))[1]::text;
