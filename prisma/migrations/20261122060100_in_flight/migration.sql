-- Attempts of a pool that are in its lane or on a worker, as of now: volatile, so that it sees what was committed after the
-- statement began that calls it. A dispatcher that waited for its turn would otherwise count what was there before.
CREATE FUNCTION in_flight_of(pool text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (SELECT count(*) FROM jobs WHERE pool_id = pool AND delivery IN ('dispatched', 'leased'));
END
$$;
