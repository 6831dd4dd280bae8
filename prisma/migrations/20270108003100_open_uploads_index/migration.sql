-- How many uploads in parts an account has open: those that became an asset stay for days, and are not read for it.
CREATE INDEX CONCURRENTLY resumable_uploads_open_idx ON resumable_uploads (account_id, expires_at) WHERE asset_id IS NULL;
