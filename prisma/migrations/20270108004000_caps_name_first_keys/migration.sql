-- A cap of a key names the first of its line, as which all of them count (`spend_keys_of`). A process of before `keys_that_spend_together` names the key
-- itself, and counts and renews by that name: so the name is changed before the cap is written, and the rest is done once it is.
CREATE FUNCTION name_first_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.value := (spend_keys_of(NEW.value::uuid))[1]::text;
    RETURN NEW;
END
$$;
CREATE TRIGGER label_rules_first_key_trigger BEFORE INSERT OR UPDATE OF value ON label_rules FOR EACH ROW
    WHEN (NEW.label = '@key' AND NEW.value IS NOT NULL) EXECUTE FUNCTION name_first_key();

-- What was warned of and stopped under the cap as it was is forgotten, and what the line was charged is taken from the records of usage, as where a cap is
-- set: `label_use_spend_trigger` decides again, by the cap as it is now. The first statement locks the row: a job that ends meanwhile is in the sum of the
-- next, or adds to it afterwards.
CREATE FUNCTION count_first_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE label_use u SET day_warned = 0, month_warned = 0, day_mail = 0, month_mail = 0, day_stopped_on = NULL, month_stopped_on = NULL
    WHERE u.account_id = NEW.account_id AND u.label = NEW.label AND u.value = NEW.value;
    INSERT INTO label_use AS u (account_id, label, value, day, day_micros, month_micros)
    SELECT NEW.account_id, NEW.label, NEW.value, (now() AT TIME ZONE 'UTC')::date, coalesce(sum(g.day_micros), 0), sum(g.month_micros)
    FROM (
        SELECT r.api_key_id, sum(r.charged_micros) AS month_micros,
            sum(r.charged_micros) FILTER (WHERE r.finished_at >= date_trunc('day', now(), 'UTC')) AS day_micros
        FROM usage_records r
        WHERE r.account_id = NEW.account_id AND r.finished_at >= date_trunc('month', now(), 'UTC') GROUP BY r.api_key_id
    ) g WHERE NEW.value::uuid = ANY (spend_keys_of(g.api_key_id)) HAVING count(*) > 0
    ON CONFLICT (account_id, label, value) DO UPDATE SET day = excluded.day, day_micros = excluded.day_micros, month_micros = excluded.month_micros;
    RETURN NULL;
END
$$;
CREATE TRIGGER label_rules_count_trigger AFTER INSERT OR UPDATE ON label_rules FOR EACH ROW
    WHEN (NEW.label = '@key' AND NEW.value IS NOT NULL) EXECUTE FUNCTION count_first_key();

-- Caps that such processes set since `caps_of_rotated_keys`. Of several of one line, the one counts that was set last.
DELETE FROM label_rules r USING (
    SELECT named.id, row_number() OVER (PARTITION BY named.account_id, (spend_keys_of(named.value::uuid))[1]
        ORDER BY named.updated_at DESC, named.id DESC) AS place
    FROM label_rules named WHERE named.label = '@key' AND named.value IS NOT NULL
) older WHERE r.id = older.id AND older.place > 1;
UPDATE label_rules r SET value = r.value, updated_at = now()
WHERE r.label = '@key' AND r.value <> (spend_keys_of(r.value::uuid))[1]::text;
