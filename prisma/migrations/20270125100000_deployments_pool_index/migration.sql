-- The pool of a deployment changes with its version. PostgreSQL counts a column in a unique index as a part of the row's key, unless the index is partial,
-- and what changes the key waits for all who hold the row FOR KEY SHARE: the end of a version waited for submissions, of which a busy deployment always
-- has some. No pool is null: the index holds them all, and finds them by equality.
CREATE UNIQUE INDEX CONCURRENTLY deployments_pool_key ON deployments (pool_id) WHERE pool_id IS NOT NULL;
