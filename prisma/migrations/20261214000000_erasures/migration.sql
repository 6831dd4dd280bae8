-- What is to be erased for good: a job, all that carries a label, or an account with all that it has.
CREATE TABLE erasures (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    subject text NOT NULL,
    job_id uuid,
    -- Forgotten with the rest when all is done.
    label text,
    value text,
    -- What stands in the books where the subject stood.
    pseudonym text NOT NULL,
    state text NOT NULL DEFAULT 'requested',
    -- Where the work is: the step, and how far that one is.
    step text NOT NULL DEFAULT '',
    place text,
    counts jsonb NOT NULL DEFAULT '{}',
    -- Who works on it now. Every write of the work names the token: who has lost it writes nothing.
    lease_token uuid,
    lease_expires_at timestamptz(3),
    -- Not before this: it waits for what has to end first, or failed.
    due_at timestamptz(3) NOT NULL DEFAULT now(),
    requested_by text NOT NULL,
    requested_at timestamptz(3) NOT NULL DEFAULT now(),
    started_at timestamptz(3),
    done_at timestamptz(3),
    CONSTRAINT erasures_pkey PRIMARY KEY (id),
    CONSTRAINT erasures_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT erasures_subject_check CHECK (subject IN ('job', 'label', 'account') AND (subject = 'job') = (job_id IS NOT NULL)
        AND (subject = 'label' OR (label IS NULL AND value IS NULL))),
    CONSTRAINT erasures_state_check CHECK (state IN ('requested', 'running', 'done')),
    CONSTRAINT erasures_done_check CHECK ((state = 'done') = (done_at IS NOT NULL) AND (state <> 'done' OR value IS NULL)
        AND (state = 'done' OR subject <> 'label' OR (label IS NOT NULL AND value IS NOT NULL))),
    CONSTRAINT erasures_lease_check CHECK ((lease_token IS NULL) = (lease_expires_at IS NULL) AND (state = 'running' OR lease_token IS NULL))
);
-- To ask twice is to ask once, until it is done.
CREATE UNIQUE INDEX erasures_open_key ON erasures (account_id, subject, job_id, label, value) NULLS NOT DISTINCT WHERE state <> 'done';
CREATE INDEX erasures_due_idx ON erasures (due_at) WHERE state <> 'done';
CREATE INDEX erasures_account_idx ON erasures (account_id, id DESC);

-- A closed account stays suspended for good.
ALTER TABLE accounts
    ADD COLUMN closed_at timestamptz(3),
    ADD CONSTRAINT accounts_closed_check CHECK (closed_at IS NULL OR status = 'suspended');

-- An entry of the audit log stays as it is, but that what was said in it of an erased subject may be struck out.
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.details = '{"erased": true}' AND (NEW.address IS NULL OR NEW.address = OLD.address) AND (NEW.reason IS NULL OR NEW.reason = OLD.reason) THEN
        OLD.details := NEW.details;
        OLD.address := NEW.address;
        OLD.reason := NEW.reason;
        IF NEW IS NOT DISTINCT FROM OLD THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'MR002', MESSAGE = format('%s on %s: %s', TG_OP, TG_TABLE_NAME, TG_ARGV[0]);
END
$$;
CREATE OR REPLACE TRIGGER audit_log_append_trigger BEFORE UPDATE ON audit_log FOR EACH ROW
    EXECUTE FUNCTION refuse_audit_change('the audit log is only appended to');

-- Strikes out what entries of an account say: of all of them where `texts` is null, else of those in whose details one of the texts stands.
-- What says who asked for an erasure, and why, stays. Works through `batch` entries from `after` on, and returns the last of them; null
-- when there was none. It runs with the rights of the owner, as no process may change the log itself.
CREATE FUNCTION redact_audit_log(account uuid, texts text[], after uuid, batch integer, OUT last uuid, OUT redacted integer)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT id INTO last FROM (
        SELECT id FROM public.audit_log WHERE account_id = account AND id > after ORDER BY id LIMIT batch
    ) page ORDER BY id DESC LIMIT 1;
    UPDATE public.audit_log
    SET details = '{"erased": true}',
        address = CASE WHEN actor LIKE 'api\_key:%' OR actor LIKE 'session:%' THEN NULL ELSE address END,
        reason = NULL
    WHERE account_id = account AND id > after AND id <= last AND action NOT LIKE 'erasure.%'
      AND (details <> '{}' OR address IS NOT NULL OR reason IS NOT NULL)
      AND (texts IS NULL OR EXISTS (
        SELECT FROM unnest(texts) named WHERE position(named IN details::text) > 0 OR position(named IN subject_id) > 0));
    GET DIAGNOSTICS redacted = ROW_COUNT;
END
$$;
REVOKE ALL ON FUNCTION redact_audit_log(uuid, text[], uuid, integer) FROM PUBLIC;

-- The books stay as they are, but that why an operator posted something may be struck out with the account that it names.
CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.reason = 'erased' AND OLD.reason IS NOT NULL THEN
        OLD.reason := NEW.reason;
        IF NEW IS NOT DISTINCT FROM OLD THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'MR002', MESSAGE = format('%s on %s: %s', TG_OP, TG_TABLE_NAME, TG_ARGV[0]);
END
$$;
CREATE OR REPLACE TRIGGER ledger_transactions_append_trigger BEFORE UPDATE OR DELETE ON ledger_transactions FOR EACH ROW
    EXECUTE FUNCTION refuse_ledger_change('the ledger is only appended to');
