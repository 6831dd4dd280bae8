-- The jobs of all accounts that failed, the latest first, for operators. Few jobs do: what ends well pays nothing for it.
CREATE INDEX CONCURRENTLY jobs_failed_idx ON jobs (id DESC) WHERE status = 'failed';
