-- When its last job ended, as it was recorded with the message of it; null while any has not ended, and again after a retry.
ALTER TABLE batches ADD COLUMN completed_at timestamptz(3),
    -- How often jobs of it were tried again. Names the run that an end belongs to.
    ADD COLUMN retries integer NOT NULL DEFAULT 0;

-- Keys of requests that had jobs of a batch tried again.
CREATE TABLE batch_retries (
    batch_id uuid NOT NULL,
    idempotency_key text NOT NULL,
    -- SHA-256 of what was asked for: a repeat with the key has the same one.
    request_hash bytea NOT NULL,
    job_count integer NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    CONSTRAINT batch_retries_pkey PRIMARY KEY (batch_id, idempotency_key),
    CONSTRAINT batch_retries_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES batches (id) ON DELETE CASCADE ON UPDATE RESTRICT
);

-- A message is of a job, of a batch, or carries its data.
ALTER TABLE webhook_messages ADD COLUMN batch_id uuid, ADD COLUMN data jsonb;

-- A job that has ended stays as it is, but that another one may take its place in a batch.
CREATE FUNCTION refuse_terminal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.batch_index IS NOT NULL AND NEW.batch_index IS NULL THEN
        OLD.batch_index := NULL;
        IF NEW IS NOT DISTINCT FROM OLD THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'MR002', MESSAGE = format('%s on %s: %s', TG_OP, TG_TABLE_NAME, TG_ARGV[0]);
END
$$;
CREATE OR REPLACE TRIGGER jobs_terminal_trigger BEFORE UPDATE ON jobs FOR EACH ROW WHEN (OLD.delivery = 'done')
    EXECUTE FUNCTION refuse_terminal_change('nothing leaves a terminal state');
