-- Turns of a pool (turn.store.ts), `most` at most and while fewer than `room` attempts are in flight: one row for each, in order.
-- The last one has no job where nobody can have a turn. A single row without `in_flight` while another process dispatches for
-- the pool.
--
-- Each turn is what it would be alone: it sees what those before it wrote, because the function is VOLATILE, and reads one row
-- of each of a few indexes, however many jobs wait. Accounts behind the watermark `from_pass` are not seen. `pass` of a row is the lowest of those
-- that could have had the turn; with none of them it is virtual time, where the next to come joins, and without a look null.
--
-- What has its turn is dispatched now, not when the statement began: that may have waited for a lock before it came to its turns.
--
-- An account's first job is looked for from its head on (`account_queues.head_id`), and in the first of the turns without a watermark from the
-- start: a job that a process of an earlier version has put before the head is found by those.
--
-- An account that another statement has locked is skipped, or with `wait_ms` above 0 waited for. One of which all waiting jobs are locked is
-- passed over: its pass stays, and the accounts behind it have the turns meanwhile.
-- What is read is small when its plans are made, and grows while a transaction stays open: each read follows the index that has its order.
-- It reads `account_turns` with the rights of the owner, so that processes which began before that table was there need none.
--
-- A migration creates the function; dispatch-functions.int-spec.ts holds that one equal to this.
CREATE OR REPLACE FUNCTION dispatch_turns(
    pool text, room integer, most integer, stride bigint, from_pass bigint, since timestamptz, wait_ms integer)
RETURNS TABLE (
    id uuid, attempt integer, traceparent text, models text[], pass bigint, in_flight integer, in_flight_since timestamptz,
    skipped boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    SET enable_seqscan = off SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    first_id CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    -- After which account they are read, in the order of their turns.
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
    turn_head uuid;
    new_head uuid;
    job_id uuid;
    job_attempt integer;
    job_traceparent text;
    job_models text[];
    reached bigint;
    looked boolean;
    seen_pass bigint;
    passed_over boolean := false;
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
        turn_head := NULL;
        job_id := NULL;
        looked := in_flight_now < room;
        IF looked THEN
            SELECT t.account_id, t.pass INTO first_account, first_pass FROM account_turns t
            WHERE t.pool_id = pool AND t.eligible AND (t.pass, t.account_id) > (after_pass, after_account)
            ORDER BY t.pass, t.account_id LIMIT 1;
        END IF;
        -- From the first on: what is dead before it has been read once.
        -- The row of its queue is looked for from the end of its key: the versions that it left lie before it.
        IF first_account IS NOT NULL AND wait_ms > 0 THEN
            SELECT q.account_id, q.pass, q.ctid, q.head_id INTO turn_account, turn_pass, turn_row, turn_head
            FROM account_turns t CROSS JOIN LATERAL (
                SELECT q.account_id, q.pass, q.ctid, q.head_id FROM account_queues q
                WHERE q.pool_id = t.pool_id AND q.account_id >= t.account_id AND q.account_id <= t.account_id AND q.pass = t.pass AND q.eligible
                ORDER BY q.account_id DESC LIMIT 1 FOR NO KEY UPDATE) q
            WHERE t.pool_id = pool AND t.eligible AND (t.pass, t.account_id) >= (first_pass, first_account)
            ORDER BY t.pass, t.account_id LIMIT 1;
        ELSIF first_account IS NOT NULL THEN
            SELECT q.account_id, q.pass, q.ctid, q.head_id INTO turn_account, turn_pass, turn_row, turn_head
            FROM account_turns t CROSS JOIN LATERAL (
                SELECT q.account_id, q.pass, q.ctid, q.head_id FROM account_queues q
                WHERE q.pool_id = t.pool_id AND q.account_id >= t.account_id AND q.account_id <= t.account_id AND q.pass = t.pass AND q.eligible
                ORDER BY q.account_id DESC LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) q
            WHERE t.pool_id = pool AND t.eligible AND (t.pass, t.account_id) >= (first_pass, first_account)
            ORDER BY t.pass, t.account_id LIMIT 1;
        END IF;
        -- The head is the first that waits, also where another statement has that locked and a later one is taken.
        IF turn_head IS NOT NULL AND (from_pass IS NOT NULL OR n > 1) THEN
            UPDATE jobs SET delivery = 'dispatched', dispatched_at = clock_timestamp(), updated_at = clock_timestamp()
            WHERE id = (
                SELECT j.id FROM jobs j
                WHERE j.pool_id = pool AND j.account_id = turn_account AND j.delivery = 'waiting'
                    AND j.priority = ANY (ARRAY[0]) AND j.id >= turn_head
                ORDER BY j.priority DESC, j.id LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING id, attempt + 1, traceparent, models, (
                SELECT j.id FROM jobs j
                WHERE j.pool_id = pool AND j.account_id = turn_account AND j.delivery = 'waiting'
                    AND j.priority = ANY (ARRAY[0]) AND j.id >= turn_head
                ORDER BY j.priority DESC, j.id LIMIT 1) INTO job_id, job_attempt, job_traceparent, job_models, new_head;
        END IF;
        IF turn_account IS NOT NULL AND job_id IS NULL THEN
            UPDATE jobs SET delivery = 'dispatched', dispatched_at = clock_timestamp(), updated_at = clock_timestamp()
            WHERE id = (
                SELECT j.id FROM jobs j
                WHERE j.pool_id = pool AND j.account_id = turn_account AND j.delivery = 'waiting'
                ORDER BY j.priority DESC, j.id LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING id, attempt + 1, traceparent, models, (
                SELECT CASE WHEN j.priority = 0 THEN j.id END FROM jobs j
                WHERE j.pool_id = pool AND j.account_id = turn_account AND j.delivery = 'waiting'
                ORDER BY j.priority DESC, j.id LIMIT 1) INTO job_id, job_attempt, job_traceparent, job_models, new_head;
        END IF;
        IF job_id IS NOT NULL THEN
            UPDATE account_queues q SET waiting = q.waiting - 1, in_flight = q.in_flight + 1, pass = q.pass + stride / q.weight,
                head_id = new_head
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
        IF turn_account IS NOT NULL AND job_id IS NULL THEN
            passed_over := true;
            after_pass := turn_pass;
            after_account := turn_account;
            CONTINUE WHEN n < most;
        END IF;
        seen_pass := least(turn_pass, first_pass);
        IF looked AND seen_pass IS NULL THEN
            SELECT p.virtual_time INTO seen_pass FROM pools p WHERE p.id = pool;
        END IF;
        RETURN QUERY SELECT job_id, job_attempt, job_traceparent, job_models, seen_pass, in_flight_now, oldest,
            passed_over OR coalesce(first_account <> turn_account, first_account IS NOT NULL);
        in_flight_now := in_flight_now + 1;
        EXIT WHEN job_id IS NULL OR in_flight_now >= room;
    END LOOP;
    UPDATE pools SET virtual_time = reached WHERE id = pool AND virtual_time < reached;
END
$$;
