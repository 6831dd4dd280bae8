-- A page of a list costs the rows it shows: one index per kind of scope, and one per kind of status filter.
DROP INDEX jobs_account_idx;
CREATE INDEX jobs_account_idx ON jobs (account_id, id DESC) WHERE deployment_id IS NULL;
CREATE INDEX jobs_deployment_idx ON jobs (deployment_id, id DESC) WHERE deployment_id IS NOT NULL;
CREATE INDEX jobs_account_live_idx ON jobs (account_id, id DESC) WHERE delivery <> 'done';
CREATE INDEX jobs_account_done_idx ON jobs (account_id, status, id DESC) WHERE delivery = 'done';
