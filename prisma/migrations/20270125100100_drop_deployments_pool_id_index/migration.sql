-- A pool has one deployment at most by deployments_pool_key.
DROP INDEX CONCURRENTLY deployments_pool_id_key;
