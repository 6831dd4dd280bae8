-- Of caps of accounts and keys: how much is used that is to be mailed to those who answer for the money, in percent of the day's and the
-- month's cap, and the day on which each was reached. 0: nothing. A maintenance process mails it, and sets it to 0 in the same transaction.
ALTER TABLE label_use
    ADD COLUMN day_mail smallint NOT NULL DEFAULT 0,
    ADD COLUMN day_mail_on date,
    ADD COLUMN month_mail smallint NOT NULL DEFAULT 0,
    ADD COLUMN month_mail_on date;

-- When the account was last mailed of its caps: who changes them again and again causes no more mail than that.
ALTER TABLE balances ADD COLUMN spend_mail_at timestamptz(3);

-- As before, and it notes what is to be mailed: where a level is reached for the first time in its day or month.
CREATE OR REPLACE FUNCTION note_label_spend() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
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
$$;
