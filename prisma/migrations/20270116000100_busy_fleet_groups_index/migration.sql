-- The pools with which the fleet still has to do, whatever became of their deployments: one row is kept of each pool that it ever served.
CREATE INDEX CONCURRENTLY fleet_groups_busy_idx ON fleet_groups (pool_id) WHERE phase <> 'idle';
