-- Pools that are of no deployment: the pool of each version of one is named by the deployment's id. Those of versions that are gone stay, and are
-- not read for how much work there is. The name of a pool never changes, so that updates of `pools` stay heap-only.
CREATE INDEX CONCURRENTLY pools_shared_idx ON pools (id) WHERE id NOT LIKE '________-____-____-____-____________%';
