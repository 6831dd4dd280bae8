-- How long one attempt in the pool may take, in seconds; null: as the service is set.
ALTER TABLE pools ADD COLUMN attempt_limit_seconds integer CHECK (attempt_limit_seconds > 0);
