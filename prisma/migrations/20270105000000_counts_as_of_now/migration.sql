-- What a job is counted by can be made while a statement waits for the job: a cap that is set counts the jobs that run, and jobs move to
-- the queue of another pool. A statement finds the newest version of a row that it saw, but no row that is newer than its snapshot. The
-- queries of a VOLATILE function have a snapshot of their own each, so these find it.

-- How much may still be held by each label of a running job, by the rules as they are now: the rows are locked, in the order of their keys.
CREATE FUNCTION lock_label_rooms(account uuid, labels text[], metadata jsonb, api_key uuid)
RETURNS TABLE (
    label text, value text, daily_at_cap text, monthly_at_cap text, day_room bigint, month_room bigint)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    today CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
    RETURN QUERY
        SELECT u.label, u.value, r.daily_at_cap, r.monthly_at_cap,
            r.daily_micros - CASE WHEN u.day = today THEN u.day_micros ELSE 0 END - u.held_micros,
            r.monthly_micros - CASE WHEN date_trunc('month', u.day) = date_trunc('month', today) THEN u.month_micros ELSE 0 END - u.held_micros
        FROM unnest(labels) AS counted (label)
        JOIN label_use u ON u.account_id = account AND u.label = counted.label AND u.value = limited_value(counted.label, metadata, api_key)
        LEFT JOIN LATERAL (
            SELECT r.daily_micros, r.monthly_micros, r.daily_at_cap, r.monthly_at_cap FROM label_rules r
            WHERE r.account_id = u.account_id AND r.label = u.label AND (r.value = u.value OR r.value IS NULL)
            ORDER BY r.value NULLS LAST LIMIT 1
        ) r ON true
        ORDER BY u.label FOR UPDATE OF u;
END
$$;

-- More is held by a running job of a label, or its cap is used up. Returns how many rows it has changed.
CREATE FUNCTION extend_label_hold(account uuid, counted text, counted_value text, added bigint, day_stopped boolean, month_stopped boolean)
RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    today CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
    changed integer;
BEGIN
    UPDATE label_use u SET held_micros = u.held_micros + added,
        day_stopped_on = CASE WHEN day_stopped THEN today ELSE u.day_stopped_on END,
        month_stopped_on = CASE WHEN month_stopped THEN today ELSE u.month_stopped_on END
    WHERE u.account_id = account AND u.label = counted AND u.value = counted_value;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END
$$;

-- A job that has ended counts by its labels no longer, and what it was charged is spent. A count never goes below zero: what limits jobs
-- keeps none of them from its end. Returns how many rows it has changed.
CREATE FUNCTION leave_labels(account uuid, labels text[], metadata jsonb, api_key uuid, held bigint, charged bigint)
RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    today CONSTANT date := (now() AT TIME ZONE 'UTC')::date;
    changed integer;
BEGIN
    PERFORM FROM unnest(labels) AS counted (label)
    JOIN label_use u ON u.account_id = account AND u.label = counted.label AND u.value = limited_value(counted.label, metadata, api_key)
    ORDER BY u.label FOR UPDATE OF u;
    UPDATE label_use u SET live = greatest(u.live - 1, 0), held_micros = greatest(u.held_micros - held, 0), day = today,
        day_micros = CASE WHEN u.day = today THEN u.day_micros ELSE 0 END + charged,
        month_micros = CASE WHEN date_trunc('month', u.day) = date_trunc('month', today) THEN u.month_micros ELSE 0 END + charged
    FROM unnest(labels) AS counted (label)
    WHERE u.account_id = account AND u.label = counted.label AND u.value = limited_value(counted.label, metadata, api_key);
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END
$$;

-- A job that has ended leaves a queue that was made while its end waited. Returns how many rows it has changed.
CREATE FUNCTION leave_queue(pool text, account uuid, was_waiting boolean)
RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    changed integer;
BEGIN
    UPDATE account_queues q SET waiting = q.waiting - CASE WHEN was_waiting THEN 1 ELSE 0 END,
        in_flight = q.in_flight - CASE WHEN was_waiting THEN 0 ELSE 1 END,
        pass = CASE WHEN q.eligible THEN q.pass ELSE greatest(q.pass, p.virtual_time) END
    FROM pools p WHERE p.id = q.pool_id AND q.pool_id = pool AND q.account_id = account;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END
$$;
