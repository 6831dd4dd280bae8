-- The members of an account: those who were removed stay, and are not read for it.
CREATE INDEX CONCURRENTLY members_live_idx ON members (account_id, id) WHERE removed_at IS NULL;
