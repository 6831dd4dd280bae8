-- Wait until no other process dispatches for the pool, `wait_ms` at most, and keep others from it until the transaction ends; after that
-- time go on without. Yields the pool, so that the turns of the statement come after the wait (turn.store.ts).
--
-- Who waits has the pool as soon as the other commits, and asks for it once. Nothing is locked before, so that nobody waits for who waits.
-- A migration creates the function; dispatch-functions.int-spec.ts holds that one equal to this.
CREATE OR REPLACE FUNCTION await_dispatch(pool text, wait_ms integer) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    lock_timeout_before CONSTANT text := current_setting('lock_timeout');
BEGIN
    PERFORM set_config('lock_timeout', wait_ms || 'ms', true);
    PERFORM pg_advisory_xact_lock(hashtextextended('dispatch:' || pool, 0));
    PERFORM set_config('lock_timeout', lock_timeout_before, true);
    RETURN pool;
EXCEPTION WHEN lock_not_available THEN
    RETURN pool;
END
$$;
