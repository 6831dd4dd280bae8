-- The whole design's tables. What Prisma's schema cannot say stands in the second half: which values are possible, which
-- rows never change, and the indexes that keep the cost of live work independent of how much has ever been done.

CREATE TABLE accounts (
    id UUID NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT 'customer',
    status TEXT NOT NULL DEFAULT 'active',
    plan TEXT NOT NULL DEFAULT 'standard',
    weight INTEGER NOT NULL DEFAULT 1,
    running_limit INTEGER,
    queue_limit INTEGER,
    requests_per_minute INTEGER,
    stream_limit INTEGER,
    upload_bytes_per_day BIGINT,
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT accounts_pkey PRIMARY KEY (id)
);

CREATE TABLE api_keys (
    id UUID NOT NULL,
    account_id UUID NOT NULL,
    name TEXT NOT NULL,
    key_hash BYTEA NOT NULL,
    last_four TEXT NOT NULL,
    scopes TEXT[],
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    expires_at TIMESTAMPTZ(3),
    revoked_at TIMESTAMPTZ(3),
    last_used_at TIMESTAMPTZ(3),
    rotated_to UUID,

    CONSTRAINT api_keys_pkey PRIMARY KEY (id)
);

CREATE TABLE audit_log (
    id UUID NOT NULL,
    at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject_type TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    account_id UUID,
    address TEXT,
    details JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT audit_log_pkey PRIMARY KEY (id)
);

CREATE TABLE catalogues (
    digest TEXT NOT NULL,
    engine TEXT NOT NULL,
    node_count INTEGER NOT NULL,
    document TEXT NOT NULL,
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT catalogues_pkey PRIMARY KEY (digest)
);

CREATE TABLE pools (
    id TEXT NOT NULL,
    engine TEXT NOT NULL,
    catalogue_digest TEXT,
    look_ahead INTEGER NOT NULL DEFAULT 2,
    queue_limit INTEGER,
    virtual_time BIGINT NOT NULL DEFAULT 0,
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT pools_pkey PRIMARY KEY (id)
);

CREATE TABLE deployments (
    id UUID NOT NULL,
    account_id UUID NOT NULL,
    name TEXT NOT NULL,
    demo BOOLEAN NOT NULL DEFAULT false,
    pool_id TEXT NOT NULL,
    desired_state TEXT NOT NULL DEFAULT 'running',
    price_micros_per_second BIGINT,
    min_workers INTEGER NOT NULL DEFAULT 0,
    max_workers INTEGER NOT NULL DEFAULT 1,
    first_ready_at TIMESTAMPTZ(3),
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    started_at TIMESTAMPTZ(3),
    stopped_at TIMESTAMPTZ(3),

    CONSTRAINT deployments_pkey PRIMARY KEY (id)
);

CREATE TABLE workers (
    id UUID NOT NULL,
    pool_id TEXT NOT NULL,
    engine TEXT NOT NULL,
    version TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'starting',
    capacity INTEGER NOT NULL DEFAULT 1,
    resident_models TEXT[] DEFAULT ARRAY[]::TEXT[],
    problem TEXT,
    started_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    last_seen_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    stopped_at TIMESTAMPTZ(3),

    CONSTRAINT workers_pkey PRIMARY KEY (id)
);

CREATE TABLE account_queues (
    pool_id TEXT NOT NULL,
    account_id UUID NOT NULL,
    waiting INTEGER NOT NULL DEFAULT 0,
    in_flight INTEGER NOT NULL DEFAULT 0,
    weight INTEGER NOT NULL DEFAULT 1,
    running_limit INTEGER NOT NULL,
    pass BIGINT NOT NULL DEFAULT 0,
    eligible BOOLEAN NOT NULL GENERATED ALWAYS AS (waiting > 0 AND in_flight < running_limit) STORED,

    CONSTRAINT account_queues_pkey PRIMARY KEY (pool_id,account_id)
);

CREATE TABLE jobs (
    id UUID NOT NULL,
    account_id UUID NOT NULL,
    pool_id TEXT NOT NULL,
    surface TEXT NOT NULL,
    deployment_id UUID,
    api_key_id UUID,
    status TEXT NOT NULL DEFAULT 'queued',
    delivery TEXT NOT NULL DEFAULT 'waiting',
    priority SMALLINT NOT NULL DEFAULT 0,
    attempt SMALLINT NOT NULL DEFAULT 0,
    max_attempts SMALLINT NOT NULL,
    seq INTEGER NOT NULL DEFAULT 1,
    lease_token UUID,
    lease_expires_at TIMESTAMPTZ(3),
    worker_id UUID,
    dispatched_at TIMESTAMPTZ(3),
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    started_at TIMESTAMPTZ(3),
    completed_at TIMESTAMPTZ(3),
    deadline_at TIMESTAMPTZ(3) NOT NULL,
    expires_at TIMESTAMPTZ(3) NOT NULL,
    updated_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    has_secrets BOOLEAN NOT NULL DEFAULT false,
    price_micros_per_second BIGINT NOT NULL DEFAULT 0,
    held_micros BIGINT NOT NULL DEFAULT 0,
    charged_micros BIGINT,
    billable_ms BIGINT NOT NULL DEFAULT 0,
    progress JSONB,
    error JSONB,
    metadata JSONB NOT NULL DEFAULT '{}',
    traceparent TEXT,

    CONSTRAINT jobs_pkey PRIMARY KEY (id)
);

CREATE TABLE job_graphs (
    job_id UUID NOT NULL,
    workflow TEXT NOT NULL,
    node_count INTEGER NOT NULL,

    CONSTRAINT job_graphs_pkey PRIMARY KEY (job_id)
);

CREATE TABLE job_transitions (
    job_id UUID NOT NULL,
    seq INTEGER NOT NULL,
    from_status TEXT,
    to_status TEXT NOT NULL,
    attempt SMALLINT NOT NULL,
    cause TEXT NOT NULL,
    worker_id UUID,
    at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT job_transitions_pkey PRIMARY KEY (job_id,seq)
);

CREATE TABLE job_attempts (
    job_id UUID NOT NULL,
    attempt SMALLINT NOT NULL,
    worker_id UUID NOT NULL,
    claimed_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    ended_at TIMESTAMPTZ(3),
    outcome TEXT,
    engine_ms BIGINT,
    nodes JSONB,

    CONSTRAINT job_attempts_pkey PRIMARY KEY (job_id,attempt)
);

CREATE TABLE job_inputs (
    job_id UUID NOT NULL,
    asset_id UUID NOT NULL,

    CONSTRAINT job_inputs_pkey PRIMARY KEY (job_id,asset_id)
);

CREATE TABLE job_outputs (
    job_id UUID NOT NULL,
    node_id TEXT NOT NULL,
    node_index INTEGER NOT NULL,
    attempt SMALLINT NOT NULL,
    ordinal INTEGER NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    asset_id UUID NOT NULL,

    CONSTRAINT job_outputs_pkey PRIMARY KEY (job_id,node_id,node_index)
);

CREATE TABLE job_logs (
    job_id UUID NOT NULL,
    text TEXT NOT NULL,
    truncated BOOLEAN NOT NULL,
    complete BOOLEAN NOT NULL,
    captured_at TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT job_logs_pkey PRIMARY KEY (job_id)
);

CREATE TABLE idempotency_keys (
    account_id UUID NOT NULL,
    operation TEXT NOT NULL,
    key TEXT NOT NULL,
    subject_id UUID NOT NULL,
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    expires_at TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (account_id,operation,key)
);

CREATE TABLE blobs (
    account_id UUID NOT NULL,
    hash TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    orphaned_at TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT blobs_pkey PRIMARY KEY (account_id,hash)
);

CREATE TABLE assets (
    id UUID NOT NULL,
    account_id UUID NOT NULL,
    hash TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    content_type TEXT NOT NULL,
    file_path TEXT,
    tags TEXT[] DEFAULT ARRAY[]::TEXT[],
    job_id UUID,
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    expires_at TIMESTAMPTZ(3),

    CONSTRAINT assets_pkey PRIMARY KEY (id)
);

CREATE TABLE upload_days (
    account_id UUID NOT NULL,
    day DATE NOT NULL,
    size_bytes BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT upload_days_pkey PRIMARY KEY (account_id,day)
);

CREATE TABLE balances (
    account_id UUID NOT NULL,
    available_micros BIGINT NOT NULL DEFAULT 0,
    held_micros BIGINT NOT NULL DEFAULT 0,
    updated_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT balances_pkey PRIMARY KEY (account_id)
);

CREATE TABLE ledger_transactions (
    id UUID NOT NULL,
    account_id UUID NOT NULL,
    kind TEXT NOT NULL,
    job_id UUID,
    cause TEXT NOT NULL,
    corrects UUID,
    actor TEXT NOT NULL,
    reason TEXT,
    expires_at TIMESTAMPTZ(3),
    at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT ledger_transactions_pkey PRIMARY KEY (id)
);

CREATE TABLE ledger_entries (
    transaction_id UUID NOT NULL,
    line SMALLINT NOT NULL,
    from_book TEXT NOT NULL,
    to_book TEXT NOT NULL,
    amount_micros BIGINT NOT NULL,

    CONSTRAINT ledger_entries_pkey PRIMARY KEY (transaction_id,line)
);

CREATE TABLE usage_records (
    job_id UUID NOT NULL,
    account_id UUID NOT NULL,
    api_key_id UUID,
    deployment_id UUID,
    status TEXT NOT NULL,
    billable_ms BIGINT NOT NULL,
    charged_micros BIGINT NOT NULL,
    labels JSONB NOT NULL DEFAULT '{}',
    finished_at TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT usage_records_pkey PRIMARY KEY (job_id)
);
CREATE UNIQUE INDEX api_keys_key_hash_key ON api_keys(key_hash);
CREATE INDEX api_keys_account_id_idx ON api_keys(account_id);
CREATE INDEX audit_log_account_id_id_idx ON audit_log(account_id, id);
CREATE UNIQUE INDEX deployments_pool_id_key ON deployments(pool_id);
CREATE INDEX deployments_account_id_idx ON deployments(account_id);
CREATE INDEX job_inputs_asset_id_idx ON job_inputs(asset_id);
CREATE UNIQUE INDEX job_outputs_asset_id_key ON job_outputs(asset_id);
CREATE INDEX idempotency_keys_expires_at_idx ON idempotency_keys(expires_at);
CREATE INDEX assets_account_id_hash_idx ON assets(account_id, hash);
CREATE UNIQUE INDEX ledger_transactions_cause_key ON ledger_transactions(cause);
CREATE INDEX ledger_transactions_account_id_id_idx ON ledger_transactions(account_id, id);
CREATE INDEX usage_records_account_id_finished_at_idx ON usage_records(account_id, finished_at);
ALTER TABLE api_keys ADD CONSTRAINT api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE api_keys ADD CONSTRAINT api_keys_rotated_to_fkey FOREIGN KEY (rotated_to) REFERENCES api_keys(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE pools ADD CONSTRAINT pools_catalogue_digest_fkey FOREIGN KEY (catalogue_digest) REFERENCES catalogues(digest) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE deployments ADD CONSTRAINT deployments_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE deployments ADD CONSTRAINT deployments_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pools(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE workers ADD CONSTRAINT workers_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pools(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE account_queues ADD CONSTRAINT account_queues_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES pools(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE account_queues ADD CONSTRAINT account_queues_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE jobs ADD CONSTRAINT jobs_pool_id_account_id_fkey FOREIGN KEY (pool_id, account_id) REFERENCES account_queues(pool_id, account_id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE job_graphs ADD CONSTRAINT job_graphs_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE ON UPDATE RESTRICT;
ALTER TABLE job_transitions ADD CONSTRAINT job_transitions_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE ON UPDATE RESTRICT;
ALTER TABLE job_attempts ADD CONSTRAINT job_attempts_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE ON UPDATE RESTRICT;
ALTER TABLE job_inputs ADD CONSTRAINT job_inputs_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE ON UPDATE RESTRICT;
ALTER TABLE job_inputs ADD CONSTRAINT job_inputs_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE job_outputs ADD CONSTRAINT job_outputs_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE ON UPDATE RESTRICT;
ALTER TABLE job_outputs ADD CONSTRAINT job_outputs_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE job_logs ADD CONSTRAINT job_logs_job_id_fkey FOREIGN KEY (job_id) REFERENCES jobs(id) ON DELETE CASCADE ON UPDATE RESTRICT;
ALTER TABLE blobs ADD CONSTRAINT blobs_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE assets ADD CONSTRAINT assets_account_id_hash_fkey FOREIGN KEY (account_id, hash) REFERENCES blobs(account_id, hash) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE upload_days ADD CONSTRAINT upload_days_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE balances ADD CONSTRAINT balances_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE ledger_transactions ADD CONSTRAINT ledger_transactions_account_id_fkey FOREIGN KEY (account_id) REFERENCES balances(account_id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE ledger_transactions ADD CONSTRAINT ledger_transactions_corrects_fkey FOREIGN KEY (corrects) REFERENCES ledger_transactions(id) ON DELETE RESTRICT ON UPDATE RESTRICT;
ALTER TABLE ledger_entries ADD CONSTRAINT ledger_entries_transaction_id_fkey FOREIGN KEY (transaction_id) REFERENCES ledger_transactions(id) ON DELETE RESTRICT ON UPDATE RESTRICT;

-- ------------------------------------------------------------------------------------------------------ possible values

ALTER TABLE accounts
    ADD CONSTRAINT accounts_kind_check CHECK (kind IN ('customer', 'demo', 'self_hosted')),
    ADD CONSTRAINT accounts_status_check CHECK (status IN ('active', 'suspended')),
    ADD CONSTRAINT accounts_weight_check CHECK (weight BETWEEN 1 AND 1000),
    ADD CONSTRAINT accounts_limits_check CHECK (running_limit > 0 AND queue_limit >= 0 AND requests_per_minute > 0
        AND stream_limit >= 0 AND upload_bytes_per_day >= 0);

ALTER TABLE api_keys
    ADD CONSTRAINT api_keys_key_hash_check CHECK (length(key_hash) = 32);

ALTER TABLE pools
    ADD CONSTRAINT pools_engine_check CHECK (engine IN ('cpu', 'comfyui')),
    ADD CONSTRAINT pools_look_ahead_check CHECK (look_ahead >= 0);

ALTER TABLE deployments
    ADD CONSTRAINT deployments_desired_state_check CHECK (desired_state IN ('running', 'stopped')),
    ADD CONSTRAINT deployments_price_check CHECK (price_micros_per_second >= 0),
    ADD CONSTRAINT deployments_workers_check CHECK (0 <= min_workers AND min_workers <= max_workers);

ALTER TABLE workers
    ADD CONSTRAINT workers_state_check CHECK (state IN ('starting', 'ready', 'draining', 'stopped')),
    ADD CONSTRAINT workers_capacity_check CHECK (capacity > 0),
    ADD CONSTRAINT workers_stopped_check CHECK ((state = 'stopped') = (stopped_at IS NOT NULL));

ALTER TABLE account_queues
    ADD CONSTRAINT account_queues_counters_check CHECK (waiting >= 0 AND in_flight >= 0),
    ADD CONSTRAINT account_queues_weight_check CHECK (weight BETWEEN 1 AND 1000);

ALTER TABLE jobs
    ADD CONSTRAINT jobs_surface_check CHECK (surface IN ('self_hosted', 'cloud', 'deployment')
        AND (surface = 'deployment') = (deployment_id IS NOT NULL)),
    ADD CONSTRAINT jobs_status_check CHECK (
        status IN ('queued', 'running', 'succeeded', 'canceling', 'canceled', 'failed', 'expired')),
    ADD CONSTRAINT jobs_delivery_check CHECK (delivery IN ('waiting', 'dispatched', 'leased', 'done')),
    ADD CONSTRAINT jobs_done_check CHECK (
        (delivery = 'done') = (status IN ('succeeded', 'canceled', 'failed', 'expired'))),
    ADD CONSTRAINT jobs_completed_check CHECK ((delivery = 'done') = (completed_at IS NOT NULL)),
    ADD CONSTRAINT jobs_lease_check CHECK (
        (delivery = 'leased') = (lease_token IS NOT NULL)
        AND (delivery = 'leased') = (lease_expires_at IS NOT NULL)
        AND (delivery <> 'leased' OR worker_id IS NOT NULL)),
    ADD CONSTRAINT jobs_attempt_check CHECK (
        attempt >= 0 AND attempt <= max_attempts
        AND (attempt = 0) = (started_at IS NULL)
        AND (status <> 'queued' OR attempt = 0)
        AND (status NOT IN ('running', 'canceling', 'succeeded', 'failed') OR attempt > 0)),
    ADD CONSTRAINT jobs_error_check CHECK (
        (error IS NULL OR status IN ('failed', 'expired')) AND (status <> 'failed' OR error IS NOT NULL)),
    ADD CONSTRAINT jobs_deadline_check CHECK (deadline_at <= expires_at),
    ADD CONSTRAINT jobs_money_check CHECK (
        price_micros_per_second >= 0 AND held_micros >= 0 AND billable_ms >= 0
        AND charged_micros BETWEEN 0 AND held_micros
        AND (delivery = 'done') = (charged_micros IS NOT NULL));

-- The table of libs/jobs/src/job-state.ts; a test compares the two.
ALTER TABLE job_transitions
    ADD CONSTRAINT job_transitions_table_check CHECK (
        coalesce(from_status, '') || '>' || to_status IN (
            '>queued',
            'queued>running', 'queued>canceled', 'queued>expired',
            'running>succeeded', 'running>failed', 'running>expired', 'running>canceling',
            'canceling>canceled')),
    ADD CONSTRAINT job_transitions_seq_check CHECK ((seq = 1) = (from_status IS NULL));

ALTER TABLE job_attempts
    ADD CONSTRAINT job_attempts_outcome_check CHECK (
        outcome IN ('succeeded', 'failed', 'canceled', 'expired', 'lost', 'handed_back')),
    ADD CONSTRAINT job_attempts_ended_check CHECK ((outcome IS NULL) = (ended_at IS NULL)),
    ADD CONSTRAINT job_attempts_engine_ms_check CHECK (engine_ms >= 0);

ALTER TABLE job_outputs
    ADD CONSTRAINT job_outputs_type_check CHECK (type IN ('image', 'video', 'audio', 'text', 'file', 'latent'));

ALTER TABLE idempotency_keys
    ADD CONSTRAINT idempotency_keys_operation_check CHECK (operation IN ('postJobs', 'postAssets'));

ALTER TABLE blobs
    ADD CONSTRAINT blobs_hash_check CHECK (hash ~ '^blake3:[0-9a-f]{64}$'),
    ADD CONSTRAINT blobs_size_check CHECK (size_bytes >= 0);

ALTER TABLE balances
    ADD CONSTRAINT balances_never_negative_check CHECK (available_micros >= 0 AND held_micros >= 0);

ALTER TABLE ledger_transactions
    ADD CONSTRAINT ledger_transactions_kind_check CHECK (
        kind IN ('grant', 'top_up', 'hold', 'extend_hold', 'settle', 'release', 'expire', 'correction')),
    ADD CONSTRAINT ledger_transactions_job_check CHECK (
        (kind IN ('hold', 'extend_hold', 'settle', 'release')) = (job_id IS NOT NULL) OR kind = 'correction'),
    ADD CONSTRAINT ledger_transactions_correction_check CHECK ((kind = 'correction') = (corrects IS NOT NULL));

-- An entry moves an amount from one book to another, so every transaction sums to zero by construction.
ALTER TABLE ledger_entries
    ADD CONSTRAINT ledger_entries_amount_check CHECK (amount_micros > 0),
    ADD CONSTRAINT ledger_entries_books_check CHECK (
        from_book <> to_book
        AND from_book IN ('available', 'held', 'revenue', 'promotions', 'payments')
        AND to_book IN ('available', 'held', 'revenue', 'promotions', 'payments'));

ALTER TABLE usage_records
    ADD CONSTRAINT usage_records_amounts_check CHECK (billable_ms >= 0 AND charged_micros >= 0);

-- --------------------------------------------------------------------------------------------- indexes over live work

CREATE INDEX account_queues_eligible_idx ON account_queues (pool_id, pass) WHERE eligible;
CREATE INDEX account_queues_busy_idx ON account_queues (pool_id) WHERE waiting > 0;
CREATE INDEX jobs_waiting_idx ON jobs (pool_id, account_id, priority DESC, id) WHERE delivery = 'waiting';
CREATE INDEX jobs_in_flight_idx ON jobs (pool_id) WHERE delivery IN ('dispatched', 'leased');
CREATE INDEX jobs_deadline_idx ON jobs (deadline_at) WHERE delivery <> 'done';
CREATE INDEX jobs_expiry_idx ON jobs (expires_at) WHERE delivery = 'done';
CREATE INDEX jobs_account_idx ON jobs (account_id, id DESC);
CREATE INDEX jobs_metadata_idx ON jobs USING gin (metadata jsonb_path_ops) WHERE metadata <> '{}'::jsonb;
CREATE INDEX workers_alive_idx ON workers (pool_id, last_seen_at) WHERE state <> 'stopped';
CREATE INDEX assets_expiry_idx ON assets (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX blobs_orphaned_idx ON blobs (orphaned_at) WHERE orphaned_at IS NOT NULL;
CREATE UNIQUE INDEX job_outputs_name_key ON job_outputs (job_id, attempt, name);
CREATE INDEX ledger_transactions_job_idx ON ledger_transactions (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX ledger_transactions_expiry_idx ON ledger_transactions (expires_at) WHERE expires_at IS NOT NULL;

-- Heartbeats rewrite a leased row every few seconds; room on the page keeps those updates off the indexes.
ALTER TABLE jobs SET (fillfactor = 70);
ALTER TABLE account_queues SET (fillfactor = 70);
ALTER TABLE balances SET (fillfactor = 70);

-- ------------------------------------------------------------------------------------------------------------- refusals

-- Ends the statement it is called in, leaving nothing behind. The message is a reason the application knows.
CREATE FUNCTION refuse(reason text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'MR001', MESSAGE = reason;
END
$$;

-- -------------------------------------------------------------------------------------------------- rows that stay put

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'MR002', MESSAGE = format('%s on %s: %s', TG_OP, TG_TABLE_NAME, TG_ARGV[0]);
END
$$;

CREATE TRIGGER jobs_terminal_trigger BEFORE UPDATE ON jobs FOR EACH ROW
    WHEN (OLD.delivery = 'done')
    EXECUTE FUNCTION refuse_change('nothing leaves a terminal state');
CREATE TRIGGER jobs_forward_trigger BEFORE UPDATE ON jobs FOR EACH ROW
    WHEN (NEW.attempt < OLD.attempt OR NEW.seq < OLD.seq OR (NEW.status <> OLD.status AND NEW.seq <> OLD.seq + 1))
    EXECUTE FUNCTION refuse_change('attempt and seq only grow, and each status has its own seq');
CREATE TRIGGER job_transitions_append_trigger BEFORE UPDATE ON job_transitions FOR EACH ROW
    EXECUTE FUNCTION refuse_change('history is only appended to');
CREATE TRIGGER job_graphs_append_trigger BEFORE UPDATE ON job_graphs FOR EACH ROW
    EXECUTE FUNCTION refuse_change('a submitted graph is kept verbatim');
CREATE TRIGGER ledger_transactions_append_trigger BEFORE UPDATE OR DELETE ON ledger_transactions FOR EACH ROW
    EXECUTE FUNCTION refuse_change('the ledger is only appended to');
CREATE TRIGGER ledger_entries_append_trigger BEFORE UPDATE OR DELETE ON ledger_entries FOR EACH ROW
    EXECUTE FUNCTION refuse_change('the ledger is only appended to');
CREATE TRIGGER audit_log_append_trigger BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW
    EXECUTE FUNCTION refuse_change('the audit log is only appended to');
