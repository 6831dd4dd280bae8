-- Keys that end by themselves, for the notices of it.
CREATE INDEX CONCURRENTLY api_keys_expiry_idx ON api_keys (expires_at) WHERE expires_at IS NOT NULL AND revoked_at IS NULL;
