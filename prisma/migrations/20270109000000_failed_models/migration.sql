-- When a model failed. Null for those of a process of the version before: what counts then is when it began.
ALTER TABLE models ADD COLUMN failed_at timestamptz(3);
