-- A transaction has the day on which it began. One that waited over midnight finds rows in which others have begun the next day: it changes neither
-- their day nor what was warned of on it. A charge counts in the day of its usage, so one of the day before adds nothing to the later one. A day after the
-- next is none that has begun: a clock that ran ahead has left it, and the row begins again.

CREATE OR REPLACE FUNCTION leave_labels(account uuid, labels text[], metadata jsonb, api_key uuid, held bigint, charged bigint)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    today CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
    changed integer;
BEGIN
    PERFORM FROM unnest(labels) AS counted (name)
    JOIN label_use u ON u.account_id = account AND u.label = limited_label(counted.name)
        AND u.value = limited_value(counted.name, metadata, api_key)
    ORDER BY u.label, u.value FOR UPDATE OF u;
    UPDATE label_use u SET live = greatest(u.live - 1, 0), held_micros = greatest(u.held_micros - held, 0), 
        day = greatest(CASE WHEN u.day <= today + 1 THEN u.day END, today),
        day_micros = CASE WHEN u.day BETWEEN today AND today + 1 THEN u.day_micros ELSE 0 END + CASE WHEN u.day = today + 1 THEN 0 ELSE charged END,
        month_micros = CASE WHEN u.day = today + 1 OR date_trunc('month', u.day) = date_trunc('month', today) THEN u.month_micros ELSE 0 END
            + CASE WHEN u.day = today + 1 AND date_trunc('month', u.day) > date_trunc('month', today) THEN 0 ELSE charged END
    FROM unnest(labels) AS counted (name)
    WHERE u.account_id = account AND u.label = limited_label(counted.name) AND u.value = limited_value(counted.name, metadata, api_key);
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END
$function$;

-- The rooms are those of the day that has begun.
CREATE OR REPLACE FUNCTION lock_label_rooms(account uuid, labels text[], metadata jsonb, api_key uuid)
 RETURNS TABLE(label text, value text, daily_at_cap text, monthly_at_cap text, day_room bigint, month_room bigint)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
DECLARE
    today CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
    RETURN QUERY
        SELECT u.label, u.value, r.daily_at_cap, r.monthly_at_cap,
            r.daily_micros - CASE WHEN u.day BETWEEN today AND today + 1 THEN u.day_micros ELSE 0 END - u.held_micros,
            r.monthly_micros - CASE WHEN u.day = today + 1 OR date_trunc('month', u.day) = date_trunc('month', today) THEN u.month_micros ELSE 0 END - u.held_micros
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
$function$;

CREATE OR REPLACE FUNCTION extend_label_hold(account uuid, counted text, counted_value text, added bigint, day_stopped boolean, month_stopped boolean)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    today CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
    changed integer;
BEGIN
    UPDATE label_use u SET held_micros = u.held_micros + added,
        day_stopped_on = CASE WHEN day_stopped THEN greatest(today, CASE WHEN u.day <= today + 1 THEN u.day END, CASE WHEN u.warned_on <= today + 1 THEN u.warned_on END) ELSE u.day_stopped_on END,
        month_stopped_on = CASE WHEN month_stopped THEN greatest(today, CASE WHEN u.day <= today + 1 THEN u.day END, CASE WHEN u.warned_on <= today + 1 THEN u.warned_on END) ELSE u.month_stopped_on END
    WHERE u.account_id = account AND u.label = counted AND u.value = counted_value;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END
$function$;

-- The day of a row is the latest on which it was written: what was warned of on it counts until a later one begins.
CREATE OR REPLACE FUNCTION note_label_spend()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    began CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
    today CONSTANT date := greatest(began, CASE WHEN NEW.day <= began + 1 THEN NEW.day END,
        CASE WHEN NEW.warned_on <= began + 1 THEN NEW.warned_on END);
    day_before smallint := 0;
    month_before smallint := 0;
    -- Whether a mail about a former cap was taken back: what is true of the cap as it is now is noted again, at any level.
    is_day_renewed boolean := false;
    is_month_renewed boolean := false;
    rule record;
    in_day bigint;
    in_month bigint;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        is_day_renewed := OLD.day_mail > 0 AND NEW.day_mail = 0 AND NEW.day_warned = 0;
        is_month_renewed := OLD.month_mail > 0 AND NEW.month_mail = 0 AND NEW.month_warned = 0;
    END IF;
    IF NEW.warned_on IS DISTINCT FROM today THEN
        NEW.day_warned := 0;
        IF date_trunc('month', NEW.warned_on) IS DISTINCT FROM date_trunc('month', today) THEN
            NEW.month_warned := 0;
        END IF;
        NEW.warned_on := today;
    END IF;
    IF NEW.day_stopped_on <> today THEN
        NEW.day_stopped_on := NULL;
    END IF;
    IF date_trunc('month', NEW.month_stopped_on) <> date_trunc('month', today) THEN
        NEW.month_stopped_on := NULL;
    END IF;
    SELECT r.daily_micros, r.monthly_micros, r.daily_at_cap, r.monthly_at_cap INTO rule FROM label_rules r
    WHERE r.account_id = NEW.account_id AND r.label = NEW.label AND (r.value = NEW.value OR r.value IS NULL)
    ORDER BY r.value NULLS LAST LIMIT 1;
    IF NOT FOUND THEN
        RETURN NEW;
    END IF;
    in_day := CASE WHEN NEW.day = today THEN NEW.day_micros ELSE 0 END;
    in_month := CASE WHEN date_trunc('month', NEW.day) = date_trunc('month', today) THEN NEW.month_micros ELSE 0 END;
    NEW.day_warned := greatest(NEW.day_warned, spend_level(in_day + NEW.held_micros, rule.daily_micros));
    NEW.month_warned := greatest(NEW.month_warned, spend_level(in_month + NEW.held_micros, rule.monthly_micros));
    IF rule.daily_at_cap = 'stop' AND (in_day >= rule.daily_micros OR in_day + NEW.held_micros > rule.daily_micros) THEN
        NEW.day_stopped_on := today;
    END IF;
    IF rule.monthly_at_cap = 'stop' AND (in_month >= rule.monthly_micros OR in_month + NEW.held_micros > rule.monthly_micros) THEN
        NEW.month_stopped_on := today;
    END IF;
    IF starts_with(NEW.label, '@') AND (NEW.day_warned > 0 OR NEW.month_warned > 0) THEN
        IF TG_OP = 'UPDATE' THEN
            IF OLD.warned_on = today AND NOT is_day_renewed THEN day_before := OLD.day_warned; END IF;
            IF date_trunc('month', OLD.warned_on) = date_trunc('month', today) AND NOT is_month_renewed THEN
                month_before := OLD.month_warned;
            END IF;
        END IF;
        IF NEW.day_warned > day_before THEN
            NEW.day_mail := NEW.day_warned;
            NEW.day_mail_on := today;
        END IF;
        IF NEW.month_warned > month_before THEN
            NEW.month_mail := NEW.month_warned;
            NEW.month_mail_on := today;
        END IF;
    END IF;
    RETURN NEW;
END
$function$;
