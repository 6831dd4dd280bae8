-- Where accounts have their events sent.
CREATE TABLE webhook_endpoints (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    url text NOT NULL,
    description text NOT NULL DEFAULT '',
    event_types text[] NOT NULL,
    -- Of links in messages: where the account reaches the service.
    origin text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    -- The first failed attempt since the last that succeeded.
    failing_since timestamptz(3),
    disabled_at timestamptz(3),
    disabled_reason text,
    deleted_at timestamptz(3),
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_endpoints_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT webhook_endpoints_disabled_check CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
    CONSTRAINT webhook_endpoints_reason_check CHECK (disabled_reason IN ('by_owner', 'failing', 'gone'))
);
-- What the end of every job asks: whether its account has an endpoint.
CREATE INDEX webhook_endpoints_account_idx ON webhook_endpoints (account_id) WHERE deleted_at IS NULL;

-- What messages are signed with. Of one endpoint all count that have not expired.
CREATE TABLE webhook_secrets (
    id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    expires_at timestamptz(3),
    CONSTRAINT webhook_secrets_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_secrets_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints (id) ON DELETE RESTRICT ON UPDATE RESTRICT
);
CREATE INDEX webhook_secrets_endpoint_id_idx ON webhook_secrets (endpoint_id);

-- The outbox, and the log of it: an event for one endpoint, written by the statement that makes the event.
CREATE TABLE webhook_messages (
    id uuid NOT NULL DEFAULT new_job_id(),
    endpoint_id uuid NOT NULL,
    type text NOT NULL,
    job_id uuid,
    state text NOT NULL DEFAULT 'pending',
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    -- Attempts so far. The number of the last is the fence of its result.
    attempt integer NOT NULL DEFAULT 0,
    -- Attempts since it was recorded, or last replayed.
    tries integer NOT NULL DEFAULT 0,
    -- When the next attempt may begin. While one is under way: when its lease ends.
    due_at timestamptz(3) NOT NULL DEFAULT now(),
    ended_at timestamptz(3),
    CONSTRAINT webhook_messages_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_messages_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints (id) ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT webhook_messages_state_check CHECK (state IN ('pending', 'delivered', 'failed')),
    CONSTRAINT webhook_messages_tries_check CHECK (tries >= 0 AND attempt >= tries)
);
-- A job ends once, and each endpoint gets one message of it.
CREATE UNIQUE INDEX webhook_messages_event_key ON webhook_messages (endpoint_id, job_id, type);
-- The lanes: what each endpoint waits for, in the order in which it is due.
CREATE INDEX webhook_messages_lane_idx ON webhook_messages (endpoint_id, due_at, id) WHERE state = 'pending';
CREATE INDEX webhook_messages_log_idx ON webhook_messages (endpoint_id, id);

CREATE TABLE webhook_attempts (
    message_id uuid NOT NULL,
    attempt integer NOT NULL,
    at timestamptz(3) NOT NULL DEFAULT now(),
    -- Null where no answer came.
    status integer,
    error text,
    duration_ms integer NOT NULL,
    -- The first bytes of the answer.
    answer text NOT NULL DEFAULT '',
    CONSTRAINT webhook_attempts_pkey PRIMARY KEY (message_id, attempt),
    CONSTRAINT webhook_attempts_message_id_fkey FOREIGN KEY (message_id) REFERENCES webhook_messages (id) ON DELETE CASCADE ON UPDATE RESTRICT
);
