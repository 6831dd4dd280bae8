-- Record an event of an account for each of its webhook endpoints that wants it. Called by the statement that makes the event, so
-- that both are committed or neither.
CREATE FUNCTION record_webhook_event(account uuid, event text, event_data jsonb) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    recorded integer;
BEGIN
    INSERT INTO webhook_messages (endpoint_id, type, data)
    SELECT e.id, event, event_data FROM webhook_endpoints e
    WHERE e.account_id = account AND e.deleted_at IS NULL AND event = ANY (e.event_types);
    GET DIAGNOSTICS recorded = ROW_COUNT;
    RETURN recorded;
END
$$;

-- credits.low: what the account has, available and held together, fell below this. 0: never.
ALTER TABLE balances ADD COLUMN alert_below_micros BIGINT NOT NULL DEFAULT 5000000;
-- When that was recorded; null again when it has as much or more.
ALTER TABLE balances ADD COLUMN alerted_at TIMESTAMPTZ(3);

-- Whichever statement changes a balance decides here, under the lock of its row, so that each crossing is noted once. A hold moves
-- credits and spends none: submissions pass both conditions of the trigger by.
CREATE FUNCTION note_low_credits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.alerted_at := CASE WHEN NEW.available_micros + NEW.held_micros < NEW.alert_below_micros THEN now() END;
    RETURN NEW;
END
$$;
CREATE TRIGGER balances_low_trigger BEFORE UPDATE ON balances FOR EACH ROW
    WHEN ((NEW.alerted_at IS NULL AND NEW.available_micros + NEW.held_micros < NEW.alert_below_micros
            AND NEW.available_micros + NEW.held_micros < OLD.available_micros + OLD.held_micros)
        OR (NEW.alerted_at IS NOT NULL AND NEW.available_micros + NEW.held_micros >= NEW.alert_below_micros
            AND (NEW.available_micros + NEW.held_micros > OLD.available_micros + OLD.held_micros
                OR NEW.alert_below_micros <> OLD.alert_below_micros)))
    EXECUTE FUNCTION note_low_credits();

CREATE FUNCTION record_low_credits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM record_webhook_event(NEW.account_id, 'credits.low', jsonb_build_object(
        'available_micros', NEW.available_micros, 'held_micros', NEW.held_micros, 'alert_below_micros', NEW.alert_below_micros));
    RETURN NULL;
END
$$;
CREATE TRIGGER balances_low_event_trigger AFTER UPDATE ON balances FOR EACH ROW
    WHEN (OLD.alerted_at IS NULL AND NEW.alerted_at IS NOT NULL) EXECUTE FUNCTION record_low_credits();

-- deployment.stopped: it takes no more jobs, because it was stopped, or deleted while it was not.
CREATE FUNCTION record_stopped_deployment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM record_webhook_event(NEW.account_id, 'deployment.stopped', jsonb_build_object(
        'id', NEW.id, 'name', NEW.name, 'reason', CASE WHEN NEW.deleted_at IS NULL THEN 'stopped' ELSE 'deleted' END));
    RETURN NULL;
END
$$;
CREATE TRIGGER deployments_stopped_trigger AFTER UPDATE ON deployments FOR EACH ROW
    WHEN (OLD.desired_state <> 'stopped' AND OLD.deleted_at IS NULL
        AND (NEW.desired_state = 'stopped' OR NEW.deleted_at IS NOT NULL))
    EXECUTE FUNCTION record_stopped_deployment();

-- key.expiring: the last notice that was recorded of a key, in days before its end.
ALTER TABLE api_keys ADD COLUMN expiry_notice_days SMALLINT;
