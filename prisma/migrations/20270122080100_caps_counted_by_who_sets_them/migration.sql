-- This reads the usage of a whole month while jobs of the account wait for its locks. A process that sums the usage before it takes them says so for its
-- transaction (`millrace.counts_caps`); for those of an earlier version it is done as before.
CREATE OR REPLACE FUNCTION count_first_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF current_setting('millrace.counts_caps', true) = 'on' THEN
        RETURN NULL;
    END IF;
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
$function$;
