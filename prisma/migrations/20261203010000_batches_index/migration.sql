-- The jobs of a batch in their order, each place once. Jobs that were submitted alone pay nothing for it.
CREATE UNIQUE INDEX CONCURRENTLY jobs_batch_key ON jobs (batch_id, batch_index) WHERE batch_id IS NOT NULL;
