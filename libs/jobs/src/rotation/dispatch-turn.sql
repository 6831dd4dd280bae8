-- The gate of a turn (turn.store.ts): null while another process dispatches for the pool; else how many attempts of the pool
-- are in flight, as of now, and when the oldest was dispatched. Counts those dispatched since a moment, or all: but for those that are set
-- aside (dispatch/set-aside.store.ts), which have no such time and lie behind the others in the index.
--
-- VOLATILE, so that the count sees what was committed before the lock was acquired: a statement's own snapshot is older.
-- A migration creates the function; dispatch-functions.int-spec.ts holds that one equal to this.
CREATE OR REPLACE FUNCTION dispatch_turn(pool text, since timestamptz, OUT in_flight bigint, OUT oldest timestamptz)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('dispatch:' || pool, 0)) THEN
        RETURN;
    END IF;
    IF since IS NULL THEN
        SELECT count(*), min(dispatched_at) INTO in_flight, oldest FROM jobs
        WHERE pool_id = pool AND delivery IN ('dispatched', 'leased') AND dispatched_at IS NOT NULL;
    ELSE
        SELECT count(*), min(dispatched_at) INTO in_flight, oldest FROM jobs
        WHERE pool_id = pool AND delivery IN ('dispatched', 'leased') AND dispatched_at >= since;
    END IF;
END
$$;
