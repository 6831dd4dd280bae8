-- Where an account has its daily exports written.
CREATE TABLE export_destinations (
    account_id uuid NOT NULL,
    -- Null: the service's own bucket, where nothing else of the four is needed.
    bucket text,
    region text,
    -- Null: AWS's own of the region.
    endpoint text,
    access_key_id text,
    sealed_secret bytea,
    -- What the names of files begin with.
    prefix text NOT NULL DEFAULT '',
    -- Goes up with each change of where it is: what was being written to the place before does not count as delivered.
    revision integer NOT NULL DEFAULT 1,
    -- Days before it have their delivery.
    next_day date NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    -- The first failed attempt since the last that succeeded.
    failing_since timestamptz(3),
    disabled_at timestamptz(3),
    disabled_reason text,
    CONSTRAINT export_destinations_pkey PRIMARY KEY (account_id),
    CONSTRAINT export_destinations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT export_destinations_bucket_check CHECK (num_nulls(bucket, region, access_key_id, sealed_secret) IN (0, 4)
        AND (bucket IS NOT NULL OR endpoint IS NULL)),
    CONSTRAINT export_destinations_disabled_check CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
    CONSTRAINT export_destinations_reason_check CHECK (disabled_reason IN ('by_owner', 'failing'))
);
CREATE INDEX export_destinations_next_day_idx ON export_destinations (next_day) WHERE disabled_at IS NULL;

-- What is to be written, and what was: a day of an account, or a test.
CREATE TABLE export_deliveries (
    id uuid NOT NULL DEFAULT new_job_id(),
    account_id uuid NOT NULL,
    -- Null: a test.
    day date,
    state text NOT NULL DEFAULT 'pending',
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    -- Attempts so far. The number of the last is the fence of its result.
    attempt integer NOT NULL DEFAULT 0,
    -- Attempts since it was made, or last asked for.
    tries integer NOT NULL DEFAULT 0,
    -- When the next attempt may begin. While one is under way: when its lease ends.
    due_at timestamptz(3) NOT NULL DEFAULT now(),
    ended_at timestamptz(3),
    -- Where the files are: s3://bucket/prefix.
    location text,
    -- What the files that were written add up to; the audit compares it with the ledger.
    usage_rows bigint,
    usage_micros bigint,
    ledger_rows bigint,
    ledger_micros bigint,
    -- SHA-256 of each file as it was written.
    usage_sha256 bytea,
    ledger_sha256 bytea,
    CONSTRAINT export_deliveries_pkey PRIMARY KEY (id),
    CONSTRAINT export_deliveries_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE ON UPDATE RESTRICT,
    CONSTRAINT export_deliveries_state_check CHECK (state IN ('pending', 'delivered', 'failed')),
    CONSTRAINT export_deliveries_tries_check CHECK (tries >= 0 AND attempt >= tries),
    CONSTRAINT export_deliveries_sums_check CHECK (state <> 'delivered' OR day IS NULL
        OR num_nulls(usage_rows, usage_micros, ledger_rows, ledger_micros, usage_sha256, ledger_sha256, location) = 0)
);
-- A day is delivered once; each further time it is the same row.
CREATE UNIQUE INDEX export_deliveries_day_key ON export_deliveries (account_id, day);
-- One test waits at a time.
CREATE UNIQUE INDEX export_deliveries_test_key ON export_deliveries (account_id) WHERE day IS NULL AND state = 'pending';
CREATE INDEX export_deliveries_due_idx ON export_deliveries (due_at, id) WHERE state = 'pending';
CREATE INDEX export_deliveries_log_idx ON export_deliveries (account_id, id);

CREATE TABLE export_attempts (
    delivery_id uuid NOT NULL,
    attempt integer NOT NULL,
    at timestamptz(3) NOT NULL DEFAULT now(),
    -- Null where it succeeded.
    error text,
    duration_ms integer NOT NULL,
    CONSTRAINT export_attempts_pkey PRIMARY KEY (delivery_id, attempt),
    CONSTRAINT export_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES export_deliveries (id) ON DELETE CASCADE ON UPDATE RESTRICT
);

-- exports.disabled: nothing is written any more, because no attempt succeeded for three days.
CREATE FUNCTION record_disabled_exports() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM record_webhook_event(NEW.account_id, 'exports.disabled', jsonb_build_object(
        'reason', NEW.disabled_reason, 'bucket', NEW.bucket, 'prefix', NEW.prefix,
        'failing_since', to_char(NEW.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
    RETURN NULL;
END
$$;
CREATE TRIGGER export_destinations_disabled_trigger AFTER UPDATE ON export_destinations FOR EACH ROW
    WHEN (OLD.disabled_at IS NULL AND NEW.disabled_reason = 'failing') EXECUTE FUNCTION record_disabled_exports();
