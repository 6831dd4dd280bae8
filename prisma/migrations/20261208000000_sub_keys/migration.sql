-- Labels of a sub-key, which its jobs always carry; null for a key that is none. A sub-key's scopes have names of their own, which
-- processes of the version before do not know: they let it do nothing.
ALTER TABLE api_keys ADD COLUMN labels JSONB;
-- Labels of the sub-key that made it; null for what an account made itself. An output has those of its job.
ALTER TABLE assets ADD COLUMN labels JSONB;
ALTER TABLE batches ADD COLUMN labels JSONB;
