-- How many keys and sub-keys of an account work now: those that ended stay, and are not read for it.
CREATE INDEX CONCURRENTLY api_keys_live_idx ON api_keys
    (account_id, ((labels IS NOT NULL)::int), coalesce(least(expires_at, revoked_at), 'infinity'::timestamptz)) WHERE NOT is_session_key;
