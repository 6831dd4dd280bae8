-- Functions that run with the rights of the owner may be called by the roles of the processes, and by nobody else: PostgreSQL lets everybody
-- call a new one. Roles that exist may call them from here on, so that processes at work notice nothing.
DO $$
DECLARE
    role name;
    signature text;
BEGIN
    FOREACH signature IN ARRAY ARRAY[
        'dispatch_turns(text, integer, integer, bigint, bigint, timestamp with time zone, integer)',
        'latest_key(uuid)',
        'spend_keys_of(uuid)'
    ] LOOP
        FOR role IN SELECT rolname FROM pg_roles
            WHERE rolname IN ('millrace_api', 'millrace_worker', 'millrace_maintenance', 'millrace_gateway') LOOP
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', signature, role);
        END LOOP;
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', signature);
    END LOOP;
END
$$;
