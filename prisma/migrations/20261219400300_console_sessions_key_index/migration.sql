-- The sessions of a key, which go with it.
CREATE INDEX CONCURRENTLY console_sessions_api_key_id_idx ON console_sessions (api_key_id);
