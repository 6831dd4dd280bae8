-- When a record was made, read from its version 7 UUID (RFC 9562, section 5.7): to the millisecond, never after it was made.
CREATE FUNCTION created_at_of(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT AS $$
    SELECT to_timestamp(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0::float8)
$$;
