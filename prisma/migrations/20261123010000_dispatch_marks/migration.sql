-- Whose turn it is, to the last column of the order: of accounts with the same pass, one is read and not all.
DROP INDEX account_queues_eligible_idx;
CREATE INDEX account_queues_eligible_idx ON account_queues (pool_id, pass, account_id) WHERE eligible;

-- Attempts in flight in the order of their dispatch: a count can begin at the oldest. What was in flight before is dead and
-- yet in the index for as long as any transaction might see it.
DROP INDEX jobs_in_flight_idx;
CREATE INDEX jobs_in_flight_idx ON jobs (pool_id, dispatched_at) WHERE delivery IN ('dispatched', 'leased');

-- A dispatcher's turn: null while another has it; else how many attempts of the pool are in flight, as of now, and when the
-- oldest was dispatched. Counts those dispatched since a moment, or all. Volatile, so that the count sees what was committed
-- before the lock was had.
CREATE FUNCTION dispatch_turn(pool text, since timestamptz, OUT in_flight bigint, OUT oldest timestamptz)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('dispatch:' || pool, 0)) THEN
        RETURN;
    END IF;
    IF since IS NULL THEN
        SELECT count(*), min(dispatched_at) INTO in_flight, oldest FROM jobs
        WHERE pool_id = pool AND delivery IN ('dispatched', 'leased');
    ELSE
        SELECT count(*), min(dispatched_at) INTO in_flight, oldest FROM jobs
        WHERE pool_id = pool AND delivery IN ('dispatched', 'leased') AND dispatched_at >= since;
    END IF;
END
$$;
