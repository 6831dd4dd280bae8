-- How many bytes of models the disk of a worker's host can have for it. Null: it keeps no models of the library, or does not say.
ALTER TABLE workers ADD COLUMN model_cache_bytes bigint;
-- Since when it can run nothing, and says why. Null: it can, or says nothing of the kind.
ALTER TABLE workers ADD COLUMN sick_since timestamptz(3);

-- What the models of a job take that is set aside for a worker with room for them: dispatched, without a time of its dispatch, and in no lane.
ALTER TABLE jobs ADD COLUMN room_bytes bigint;

-- When its bytes were there. Null: they are not, or were before this column.
ALTER TABLE models ADD COLUMN ready_at timestamptz(3);

-- Bytes of the models that an account means by names: in each folder its own before the shared one, each content once.
CREATE FUNCTION model_bytes(account uuid, names text[]) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT coalesce(sum(content.size_bytes), 0) FROM (
            SELECT DISTINCT ON (meant.digest) meant.size_bytes FROM (
                SELECT DISTINCT ON (known.folder, known.name) known.digest, known.size_bytes FROM (
                    SELECT m.folder, m.name, m.digest, m.size_bytes, true AS own FROM models m
                    WHERE m.account_id = account AND m.name = ANY(names) AND m.state = 'ready'
                    UNION ALL
                    SELECT m.folder, m.name, m.digest, m.size_bytes, false FROM models m
                    WHERE m.shared AND m.name = ANY(names) AND m.state = 'ready'
                ) known
                ORDER BY known.folder, known.name, known.own DESC
            ) meant
        ) content
    );
END
$$;

-- Note that an account submits a job which names models of the library, and have none of them deleted until that has committed. In the order of
-- their ids, so that two submissions do not wait for each other in a circle. Refuses the statement where a name means none any more.
-- A use is noted once an hour at most, which is less than any time after which a model counts as unused.
CREATE FUNCTION use_models(account uuid, names text[]) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    ids uuid[];
    known text[];
BEGIN
    SELECT array_agg(held.id), array_agg(held.name) INTO ids, known FROM (
        SELECT m.id, m.name FROM models m
        WHERE m.state = 'ready' AND m.id IN (
            SELECT own.id FROM models own WHERE own.account_id = account AND own.name = ANY(names) AND own.state = 'ready'
            UNION ALL SELECT lent.id FROM models lent WHERE lent.shared AND lent.name = ANY(names) AND lent.state = 'ready')
        ORDER BY m.id FOR KEY SHARE
    ) held;
    IF NOT names <@ coalesce(known, '{}') THEN
        RETURN refuse('model_gone');
    END IF;
    UPDATE models SET last_used_at = now() WHERE id IN (
        SELECT m.id FROM models m WHERE m.id = ANY(ids) AND coalesce(m.last_used_at, '-infinity') < now() - interval '1 hour'
        ORDER BY m.id FOR NO KEY UPDATE);
    RETURN true;
END
$$;

-- As before, but for jobs that are set aside: what waits for a certain worker keeps nobody else's turn.
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

CREATE OR REPLACE FUNCTION in_flight_of(pool text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (
        SELECT count(*) FROM jobs
        WHERE pool_id = pool AND delivery IN ('dispatched', 'leased') AND dispatched_at IS NOT NULL
    );
END
$$;
