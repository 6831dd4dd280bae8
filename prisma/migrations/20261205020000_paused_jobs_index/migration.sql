-- Jobs that pause before a retry, by the time at which they wait again. Few do: the others pay nothing for it.
CREATE INDEX CONCURRENTLY jobs_paused_idx ON jobs (retry_at) WHERE delivery = 'paused';
