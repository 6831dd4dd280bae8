-- The id of a new job: a version 7 UUID (RFC 9562) of this server's clock, to the microsecond: the 12 bits after the version
-- carry the fraction of the millisecond (section 6.2, method 3). The jobs of an account run, and are listed, in the order of
-- their ids, and the hosts that submit them have different clocks.
CREATE FUNCTION new_job_id() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
    SELECT (lpad(to_hex(micros / 1000), 12, '0')
         || '7' || lpad(to_hex(micros % 1000 * 4096 / 1000), 3, '0')
         || right(replace(gen_random_uuid()::text, '-', ''), 16))::uuid
    FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS micros) clock
$$;
