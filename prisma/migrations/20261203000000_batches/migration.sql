-- Many jobs under one id, recorded in one transaction with them.
CREATE TABLE batches (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    surface text NOT NULL,
    deployment_id uuid,
    idempotency_key text,
    -- SHA-256 of the body: a repeat with the key has the same one.
    request_hash bytea NOT NULL,
    -- Jobs that were asked for, and of them those that were recorded.
    item_count integer NOT NULL,
    job_count integer NOT NULL,
    -- Why others were not: the first of them.
    refused jsonb NOT NULL DEFAULT '[]',
    -- Its jobs are to be canceled, and some of them are not yet.
    canceling boolean NOT NULL DEFAULT false,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    expires_at timestamptz(3) NOT NULL,
    CONSTRAINT batches_pkey PRIMARY KEY (id),
    CONSTRAINT batches_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT batches_count_check CHECK (job_count >= 0 AND item_count >= job_count AND item_count > 0),
    CONSTRAINT batches_surface_check CHECK ((surface = 'deployment') = (deployment_id IS NOT NULL))
);
-- Of two requests with one key the second waits here for the first to commit.
CREATE UNIQUE INDEX batches_key ON batches (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX batches_account_idx ON batches (account_id, id DESC);
CREATE INDEX batches_expires_at_idx ON batches (expires_at);
CREATE INDEX batches_canceling_idx ON batches (id) WHERE canceling;

-- Null for a job that was submitted alone. Without a foreign key, as the jobs' other references: submissions share-lock no more rows.
ALTER TABLE jobs ADD COLUMN batch_id uuid, ADD COLUMN batch_index integer;
