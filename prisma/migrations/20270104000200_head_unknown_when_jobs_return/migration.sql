-- Where a job in flight waits again, the head of its account's queue is not known any more. A process of the version before, which hands its jobs back
-- when an upgrade stops it, does not say so: the trigger does, for both.
CREATE OR REPLACE FUNCTION follow_turn() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    was_busy CONSTANT boolean := TG_OP <> 'INSERT' AND OLD.busy;
    -- The columns that PostgreSQL generates have no value in a row that is not yet written.
    is_busy CONSTANT boolean := TG_OP <> 'DELETE' AND NEW.waiting > 0;
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.waiting > OLD.waiting AND NEW.in_flight < OLD.in_flight THEN
        NEW.head_id := NULL;
    END IF;
    IF was_busy AND is_busy THEN
        IF OLD.pass <> NEW.pass OR OLD.eligible <> (NEW.in_flight < NEW.running_limit) THEN
            UPDATE account_turns t SET eligible = NEW.in_flight < NEW.running_limit, pass = NEW.pass
            WHERE t.pool_id = OLD.pool_id AND t.eligible = OLD.eligible AND t.pass = OLD.pass AND t.account_id = OLD.account_id;
        END IF;
    ELSIF is_busy THEN
        INSERT INTO account_turns (pool_id, eligible, pass, account_id)
        VALUES (NEW.pool_id, NEW.in_flight < NEW.running_limit, NEW.pass, NEW.account_id);
    ELSIF was_busy THEN
        DELETE FROM account_turns t
        WHERE t.pool_id = OLD.pool_id AND t.eligible = OLD.eligible AND t.pass = OLD.pass AND t.account_id = OLD.account_id;
    END IF;
    RETURN NEW;
END
$$;
