-- A worker is seen every few seconds. Where an index has when, each of these writes adds to it, and to all others of the table; without it
-- they are heap-only. What is silent is marked as stopped within minutes, so that this one has hardly more workers than live.
CREATE INDEX workers_pool_idx ON workers (pool_id) WHERE state <> 'stopped';
DROP INDEX workers_alive_idx;
ALTER TABLE workers SET (fillfactor = 50);
