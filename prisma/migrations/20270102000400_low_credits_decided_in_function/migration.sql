-- Whichever statement changes a balance decides here, under the lock of its row, so that each crossing is noted once. A hold moves credits and
-- spends none: submissions change nothing here.
CREATE OR REPLACE FUNCTION note_low_credits() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    had CONSTANT bigint := OLD.available_micros + OLD.held_micros;
    has CONSTANT bigint := NEW.available_micros + NEW.held_micros;
BEGIN
    IF NEW.alerted_at IS NULL AND has < NEW.alert_below_micros AND has < had THEN
        NEW.alerted_at := now();
    ELSIF NEW.alerted_at IS NOT NULL AND has >= NEW.alert_below_micros
            AND (has > had OR NEW.alert_below_micros <> OLD.alert_below_micros) THEN
        NEW.alerted_at := NULL;
    END IF;
    RETURN NEW;
END
$$;
CREATE OR REPLACE TRIGGER balances_low_trigger BEFORE UPDATE ON balances FOR EACH ROW EXECUTE FUNCTION note_low_credits();
