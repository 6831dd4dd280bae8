-- Operators who are signed in to their console: browsers that proved the admin token.
CREATE TABLE operator_sessions (
    id uuid NOT NULL,
    secret_hash bytea NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    expires_at timestamptz(3) NOT NULL,
    CONSTRAINT operator_sessions_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX operator_sessions_secret_hash_key ON operator_sessions (secret_hash);
CREATE INDEX operator_sessions_expires_at_idx ON operator_sessions (expires_at);
