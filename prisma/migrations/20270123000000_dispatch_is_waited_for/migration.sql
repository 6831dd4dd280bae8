-- A process that finds another dispatching for a pool waits for it in PostgreSQL, in place of asking again after pauses: with several processes the
-- pool stood still between them. A process of an earlier version goes on asking.
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
