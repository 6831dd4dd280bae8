-- The keys of a member, which end with them.
CREATE INDEX CONCURRENTLY api_keys_member_id_idx ON api_keys (member_id);
