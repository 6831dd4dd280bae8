-- Caps of an account and of its keys are rules of labels that no job can have: '@account' with the value '', '@key' with the key's id.

-- What happens when a cap is reached. stop: nothing is held beyond it, and what waits or runs is canceled. finish: no more jobs, but
-- those that run may go beyond it. Null: nothing is held beyond it.
ALTER TABLE label_rules ADD COLUMN daily_at_cap text;
ALTER TABLE label_rules ADD COLUMN monthly_at_cap text;
ALTER TABLE label_rules ADD CONSTRAINT label_rules_at_cap_check
    CHECK (daily_at_cap IN ('stop', 'finish') AND monthly_at_cap IN ('stop', 'finish'));

-- The highest share of a cap that was warned of, in percent: 50, 80 or 100; of the day and the month of warned_on.
ALTER TABLE label_use ADD COLUMN day_warned smallint NOT NULL DEFAULT 0;
ALTER TABLE label_use ADD COLUMN month_warned smallint NOT NULL DEFAULT 0;
ALTER TABLE label_use ADD COLUMN warned_on date;
-- The day on which a cap with stop was used up, of the day and of the month.
ALTER TABLE label_use ADD COLUMN day_stopped_on date;
ALTER TABLE label_use ADD COLUMN month_stopped_on date;

-- The hour, UTC, whose spend the account was last noticed of as unusual.
ALTER TABLE balances ADD COLUMN anomaly_hour timestamptz(3);

-- The value of a label by which a job is counted; null where it has none.
CREATE FUNCTION limited_value(label text, metadata jsonb, api_key uuid) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE label WHEN '@account' THEN '' WHEN '@key' THEN api_key::text ELSE metadata ->> label END
$$;

CREATE FUNCTION spend_level(used bigint, cap bigint) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
    SELECT (CASE WHEN cap IS NULL THEN 0 WHEN used >= cap THEN 100 WHEN used >= cap * 0.8 THEN 80 WHEN used >= cap * 0.5 THEN 50 ELSE 0 END)::smallint
$$;

-- Whichever statement changes what is used decides here, under the lock of its row, so that each warning is noted once a day or month.
CREATE FUNCTION note_label_spend() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
    rule record;
    in_day bigint;
    in_month bigint;
BEGIN
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
    RETURN NEW;
END
$$;
CREATE TRIGGER label_use_spend_trigger BEFORE INSERT OR UPDATE ON label_use FOR EACH ROW EXECUTE FUNCTION note_label_spend();

-- spend.warning: what is charged and held came to 50, 80 or 100 percent of a cap.
CREATE FUNCTION record_spend_warnings() RETURNS trigger LANGUAGE plpgsql AS $$
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
            'key_id', CASE WHEN NEW.label = '@key' THEN NEW.value END,
            'label', CASE WHEN NOT starts_with(NEW.label, '@') THEN NEW.label END,
            'value', CASE WHEN NOT starts_with(NEW.label, '@') THEN NEW.value END,
            'span', warning.span, 'percent', warning.percent, 'cap_micros', warning.cap, 'at_cap', warning.at_cap,
            'held_micros', NEW.held_micros, 'charged_micros', warning.charged));
    END LOOP;
    RETURN NULL;
END
$$;
CREATE TRIGGER label_use_warning_trigger AFTER INSERT OR UPDATE ON label_use FOR EACH ROW
    WHEN (NEW.day_warned > 0 OR NEW.month_warned > 0) EXECUTE FUNCTION record_spend_warnings();
