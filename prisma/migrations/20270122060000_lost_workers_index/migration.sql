-- Workers that were ready and have stopped, by where they ran: the fleet asks every second which of its members are among those that were
-- marked as lost. When a worker was last seen is no part of it: each heartbeat changes that, and must not change an index.
CREATE INDEX CONCURRENTLY workers_lost_idx ON workers (host, pool_id) WHERE state = 'stopped' AND ready_at IS NOT NULL;
