-- What the deployments of an account add up to: those that were deleted stay, and are not read for it.
CREATE INDEX CONCURRENTLY deployments_live_idx ON deployments (account_id) WHERE deleted_at IS NULL;
