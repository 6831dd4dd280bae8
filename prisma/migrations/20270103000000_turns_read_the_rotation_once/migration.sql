-- A turn looks for the account to lock from the first on that it has found: while a transaction stays open, what is before it is dead and read slowly.
CREATE OR REPLACE FUNCTION dispatch_turns(
    pool text, room integer, most integer, stride bigint, from_pass bigint, since timestamptz, wait_ms integer)
RETURNS TABLE (
    id uuid, attempt integer, traceparent text, models text[], pass bigint, in_flight integer, in_flight_since timestamptz,
    skipped boolean)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    first_id CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    -- From where accounts are read, in the order of their turns.
    after_pass bigint := coalesce(from_pass, -9223372036854775808);
    after_account uuid := first_id;
    in_flight_now integer;
    oldest timestamptz;
    first_account uuid;
    first_pass bigint;
    turn_account uuid;
    turn_pass bigint;
    -- Where the row of the account lies: it is locked, so that it stays there.
    turn_row tid;
    job_id uuid;
    job_attempt integer;
    job_traceparent text;
    job_models text[];
    reached bigint;
    looked boolean;
    seen_pass bigint;
BEGIN
    IF wait_ms > 0 THEN
        PERFORM set_config('lock_timeout', wait_ms || 'ms', true);
    END IF;
    SELECT g.in_flight, coalesce(g.oldest, now()) INTO in_flight_now, oldest FROM dispatch_turn(pool, since) g;
    FOR n IN 1 .. most LOOP
        first_account := NULL;
        first_pass := NULL;
        turn_account := NULL;
        turn_pass := NULL;
        job_id := NULL;
        looked := in_flight_now < room;
        IF looked THEN
            SELECT q.account_id, q.pass INTO first_account, first_pass FROM account_queues q
            WHERE q.pool_id = pool AND q.eligible AND (q.pass, q.account_id) >= (after_pass, after_account)
            ORDER BY q.pass, q.account_id LIMIT 1;
        END IF;
        -- From the first on: what is dead before it has been read once.
        IF first_account IS NOT NULL AND wait_ms > 0 THEN
            SELECT q.account_id, q.pass, q.ctid INTO turn_account, turn_pass, turn_row FROM account_queues q
            WHERE q.pool_id = pool AND q.eligible AND (q.pass, q.account_id) >= (first_pass, first_account)
            ORDER BY q.pass, q.account_id LIMIT 1 FOR UPDATE;
        ELSIF first_account IS NOT NULL THEN
            SELECT q.account_id, q.pass, q.ctid INTO turn_account, turn_pass, turn_row FROM account_queues q
            WHERE q.pool_id = pool AND q.eligible AND (q.pass, q.account_id) >= (first_pass, first_account)
            ORDER BY q.pass, q.account_id LIMIT 1 FOR UPDATE SKIP LOCKED;
        END IF;
        IF turn_account IS NOT NULL THEN
            UPDATE jobs SET delivery = 'dispatched', dispatched_at = clock_timestamp(), updated_at = clock_timestamp()
            WHERE id = (
                SELECT j.id FROM jobs j
                WHERE j.pool_id = pool AND j.account_id = turn_account AND j.delivery = 'waiting'
                ORDER BY j.priority DESC, j.id LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING id, attempt + 1, traceparent, models INTO job_id, job_attempt, job_traceparent, job_models;
        END IF;
        IF job_id IS NOT NULL THEN
            UPDATE account_queues q SET waiting = q.waiting - 1, in_flight = q.in_flight + 1, pass = q.pass + stride / q.weight
            WHERE q.ctid = turn_row;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'the queue of account % in pool % is not where it was locked', turn_account, pool;
            END IF;
            reached := greatest(reached, turn_pass);
            -- What had its turn is dead in the index, and stays so until the statement ends.
            IF first_account = turn_account THEN
                after_pass := turn_pass;
                after_account := turn_account;
            END IF;
        END IF;
        seen_pass := least(turn_pass, first_pass);
        IF looked AND seen_pass IS NULL THEN
            SELECT p.virtual_time INTO seen_pass FROM pools p WHERE p.id = pool;
        END IF;
        RETURN QUERY SELECT job_id, job_attempt, job_traceparent, job_models, seen_pass, in_flight_now, oldest,
            coalesce(first_account <> turn_account, first_account IS NOT NULL);
        in_flight_now := in_flight_now + 1;
        EXIT WHEN job_id IS NULL OR in_flight_now >= room;
    END LOOP;
    UPDATE pools SET virtual_time = reached WHERE id = pool AND virtual_time < reached;
END
$$;
